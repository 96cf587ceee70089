"""Child processes: commands of Bash, hooks, helpers, engines of programs. None outlives what it was started for.

`run.py` runs one to its end; `start.py` starts it, `environment.py` says what it gets, `pipes.py`, `lines.py`,
`output.py` and `end.py` follow what it prints, `masking.py` and `secrets.py` take secrets out of that. `tree.py` and
`table.py` find all that came from it, `guard.py` and `leash.py` end it with mcode, `sandbox.py` keeps it in bounds.
`helper.py` runs small programs of mcode's own. The two `_child.py` are programs: they run in processes of their own.
"""
