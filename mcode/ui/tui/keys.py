"""The keys in words, for the lists that F1 and `?` show."""

from __future__ import annotations

APPROVAL_KEYS = (
    ("Tab", "go to what waits for you; Shift+Tab and Esc lead back to the prompt, and it waits on"),
    ("1-9, Up, Down", "choose an answer; nothing is chosen before"),
    ("Enter", "confirm the chosen answer"),
    ("PgUp, PgDn, Home, End", "scroll what is decided on"),
    ("Ctrl+O", "all of it on a screen of its own"),
    ("Ctrl+C", "back to the prompt; there it interrupts the turn"),
    ("any other letter", "goes to your draft, with the digits before it"),
)
"""At what waits for the user."""

KEYS = (
    ("Enter", "send the draft; while a turn runs: put it in the queue"),
    ("Ctrl+J, \\ Enter", "new line"),
    ("Esc", "close what is open; else interrupt the turn; draft and queue stay"),
    ("Esc Esc", "with nothing running and an empty draft: earlier points of the conversation"),
    ("Ctrl+C", "copy what is selected; else interrupt; else clear the draft; twice: quit"),
    ("Ctrl+D", "quit, on an empty draft"),
    ("Tab", "complete; else go to what waits for you; else to the transcript"),
    ("Shift+Tab", "next permission mode: ask, accept edits, plan"),
    ("Up, Down", "take back a queued message, then the history"),
    ("Ctrl+R", "search the history"),
    ("Ctrl+G", "edit the draft in your editor"),
    ("Ctrl+O", "fold or unfold the last card; in an approval: full screen"),
    ("Ctrl+V", "paste the image of the clipboard; a dropped image file becomes a mention"),
    ("Ctrl+X", "move the command that runs to the background"),
    ("PgUp, PgDn, Ctrl+Home, End", "scroll the transcript; End follows it again"),
    ("Alt+Up, Alt+Down", "previous and next block"),
    ("Ctrl+L, Ctrl+Z", "draw the screen again; suspend"),
    ("/, @, !", "a command, a file, a shell command of your own"),
    ("F1, ?", "this list"),
)
