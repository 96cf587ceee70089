"""run_code: the model's JavaScript programs, which call the session's tools on the same road as everybody.

`tool.py` is what the model calls, `runner.py` what stands behind it. `program.py` carries one program from its
first frame to its end; `engine.py` and `pipes.py` keep the worker processes it runs in, `worker.py` and the `.js`
files are what runs there. `bridge.py` is the only link to the road, `lanes.py` the order of its calls, `replies.py`
what programs get back. `faults.py` and `report.py` say how a program ended, `records.py` and `audit.py` what it did.
"""
