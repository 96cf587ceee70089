"""The road: every use of a tool, whoever makes it, passes these steps in this order.

1. `admit`: find the tool, restore argument types, validate against the tool's own schema.
2. `hooks`: PreToolUse may rewrite the arguments (back to 1), deny, or ask for a question.
3. decide (`permissions`): allow, ask or deny, always with the reason.
4. `ask`: one question at a time, answered by whichever front end is attached.
5. `execute`: the only place where a tool's body is called.
6. `hooks`: PostToolUse and PostToolUseFailure may add to or replace the result.
7. `fit`: the model gets the result cut to size, programs and hooks whole.
8. `record`: journal, verdict log, events.

`run.Pipeline.run` is the only public way in.
"""
