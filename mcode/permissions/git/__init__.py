"""git, which reads much and runs what its configuration names.

`table.py` knows the commands that only read, `judge.py` lets one run, `config.py` looks for what a configuration would
run, `shows.py` and `tracked.py` keep files out of what is shown.
"""
