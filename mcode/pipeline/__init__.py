"""The road: every use of a tool, whoever makes it, passes these steps in this order.

1. `admit`: the tool is found, and the arguments are brought into the types of its schema and checked by it.
2. `hooks`: those before a call may change its arguments (back to 1), deny it, or have it asked about.
3. `permit`: the policy of `permissions` gives a verdict and the reason for it.
4. `ask`: where the verdict is a question, the front end that is attached answers it; others wait their turn.
5. `execute`: the only place where a tool's body is called.
6. `hooks`: PostToolUse and PostToolUseFailure may add to or replace the result.
7. `fit`: the model gets the result cut to size, programs and hooks whole.
8. `record`: journal, verdict log, events.

`run.Pipeline.run` is the only public way in.
"""
