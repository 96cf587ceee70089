"""A shell line: what it runs, which files it touches, what is dangerous in it, and whether rules speak of it.

`tree.py` parses, `reading.py` reads a line that may run, `lines.py` any line for rules that deny or ask. `words.py`,
`quotes.py`, `options.py` and `units.py` take a command apart; `table.py` knows the commands that only read.
`places.py`, `reach.py`, `files.py` and `lookup.py` find what a line touches, `dangers.py` what always asks, `rules.py`
what rules let run, and `judge.py` gives the verdict.
"""
