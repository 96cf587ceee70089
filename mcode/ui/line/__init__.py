"""The line front end: finished lines in the terminal's own scrollback, and a prompt beneath them.

`app.LineApp` puts it together; nothing is imported here, since prompt_toolkit is slow to load.
"""
