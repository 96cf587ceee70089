"""May this call run? Rules, grants and the mode decide, always with the reason.

`decide.Policy` is the only door: it reads the rules (`rules`), looks at the paths (`paths`) and the shell line
(`shell.lines`, `shell.reach`, `shell.dangers`) of one call, and answers with a `verdict.Verdict`. Nothing here
opens a file that a call names, starts a process or asks anybody.
"""
