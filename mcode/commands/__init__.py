"""Slash commands, shared by all front ends. One noun a file; `standard.py` lists them.

A command never touches the terminal: it answers with text for people and the same facts as a JSON value.
"""
