"""Servers of the Model Context Protocol as sources of tools. A server is never fatal: its faults are its state."""
