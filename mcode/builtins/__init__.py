"""The tools that mcode brings itself; what the model is told of each stands in a .md file.

`all.file_tools` puts the tools on files together. A change of a user's file goes through `change`, which
checks, keeps the old bytes for undo, and replaces in one step under the file's lock. Kept free of imports:
the search program in `search_worker` starts from this package and must start fast.
"""
