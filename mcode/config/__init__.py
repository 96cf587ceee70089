"""Everything the user, the project and the administrator have written down: settings, memory files, the key.

Files are read in place and never executed; what a repository supplies can only restrict until its folder is
trusted. Nothing here imports anything slow, because settings load before the first frame.
"""
