"""The keys in words, for the list that F1 and `?` show."""

from __future__ import annotations

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
