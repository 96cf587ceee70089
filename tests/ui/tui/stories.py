"""Events of small stories, for tests and for looking at the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.call import Call, FailureKind, Origin, Outcome, Status
from mcode.events import (
    ApprovalRequested,
    AssistantMessage,
    HookRan,
    Notice,
    RequestStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.tool import Preview

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.events import Event

DIFF = """--- a/src/cli.py
+++ b/src/cli.py
@@ -41,3 +41,6 @@
 def run_line(line):
-    parse_line(line)
+    result = parse_line(line)
+    if result.error:
+        report(result.error)
+        return 1
     return 0
"""

MARKDOWN = """## What I found

Two callers **ignore** the error value; see [the guide](https://example.org/guide) and `parse_line()`.

1. `src/cli.py` swallows it
2. `src/repl.py` prints it
   - but only in *debug* mode

| file | line | ignores |
|---|---:|:-:|
| src/cli.py | 42 | yes |
| src/repl.py | 118 | no |

```python
def run_line(line: str) -> int:
    # the error value matters
    return 1 if parse_line(line).error else 0
```

> Quoted, as it was said.

---
Done.
"""


def start(
    call_id: str, tool: str, title: str, *, parent: str | None = None, source: str = "core", **arguments: Any
) -> ToolStarted:
    origin = Origin.PROGRAM if parent else Origin.MODEL
    return ToolStarted(Call(call_id, tool, arguments, origin, parent), Preview(title), source)


def finish(
    started: ToolStarted, summary: str = "", text: str = "", status: Status = Status.OK, **fields: Any
) -> ToolFinished:
    failure = None if status is Status.OK else FailureKind.TOOL_ERROR
    return ToolFinished(Outcome(started.call, status, text, summary=summary, failure=failure, **fields))


def program_at_work() -> Iterator[Event]:
    """Mock-up 4.2: a program with live inner calls."""
    yield TurnStarted(1, "find every caller of parse_line and tell me which ones ignore the error value")
    yield RequestStarted(1)
    text = "I'll scan the callers in one program rather than reading the files one by one."
    yield TextDelta(text)
    yield AssistantMessage({"role": "assistant", "content": [{"type": "text", "text": text}]})
    code = "const hits = (await tools.Grep({pattern:'parse_line\\\\('})).value;\n" + "use(hits);\n" * 17
    program = start("p", "run_code", code.split("\n", maxsplit=1)[0], code=code)
    yield program
    inner: list[tuple[ToolStarted, dict[str, Any]]] = [
        (start("c1", "Grep", "parse_line\\(", parent="p"), {"summary": "23 matches", "duration": 0.1}),
        (start("c2", "Read", "src/cli.py", parent="p"), {"summary": "212 lines"}),
        (start("c3", "Read", "src/repl.py", parent="p"), {"summary": "88 lines"}),
        (
            start("c4", "Read", "src/gen/tables.py", parent="p"),
            {"text": "4.1 MB is over the 1 MB limit", "status": Status.FAILED},
        ),
        (
            start("c5", "Bash", "git log -1 --format=%h -- src/repl.py", parent="p"),
            {"summary": "exit 0", "duration": 0.2, "decision": "auto: read-only", "text": "x" * 41_000},
        ),
    ]
    for started, fields in inner:
        yield started
        yield finish(started, **fields)
    yield start("c6", "mcp__github__search_code", "parse_line language:python", parent="p", source="github")
    yield ToolProgress("c6", "waiting for server")
    asked = start("c7", "Bash", "pytest -q tests/test_repl.py", parent="p")
    yield asked
    yield ApprovalRequested("a1", asked.call, asked.preview, "no rule matched", ())


def work_done() -> Iterator[Event]:
    """A turn with all kinds of blocks, from a question to the answer."""
    yield TurnStarted(1, "fix the failing test in tests/test_parser.py")
    yield RequestStarted(1)
    yield ThinkingDelta("The test fails since the helper swallows the error.")
    yield TextDelta("I'll look at the test first.")
    yield AssistantMessage({"role": "assistant", "content": []})
    read = start("r", "Read", "tests/test_parser.py", file_path="tests/test_parser.py")
    yield read
    yield finish(read, "212 lines", "1 import os")
    bash = start("b", "Bash", "pytest -q", command="pytest -q")
    yield bash
    output = "F..\n\x1b[31mFAILED\x1b[0m tests/test_parser.py::test_error\n1 failed, 2 passed in 0.31s"
    yield finish(
        bash,
        "exit 1",
        output,
        data={"stdout": output, "exit_code": 1},
        duration=0.6,
        decision="auto: read-only",
    )
    edit = start("e", "Edit", "src/cli.py", file_path="src/cli.py")
    yield edit
    yield finish(edit, "+4 -1", "edited", diff=DIFF, decision="rule: Edit(src/**)")
    denied = start("d", "Bash", "rm -rf build", command="rm -rf build")
    yield denied
    yield finish(
        denied, "", "Denied: I need that folder. The call did not run; do something else.", Status.DENIED
    )
    search = start("s", "tool_search", "jira create issue", query="jira create issue")
    yield search
    yield finish(
        search,
        "2 tools",
        "mcp__jira__create_issue(project, title): Create an issue\nmcp__jira__comment: Comment",
    )
    failed = start("f", "mcp__jira__create_issue", "PARSE: error is ignored", source="jira")
    yield failed
    yield finish(failed, "", "The server answered 403: no permission for project PARSE.", Status.FAILED)
    yield HookRan("h", "PostToolUse", "format-on-edit", "blocked", exit_code=2, stderr="ruff: not found")
    yield TodosChanged(
        (
            {"content": "Read the failing test", "status": "completed"},
            {"content": "Return the error", "status": "in_progress"},
            {"content": "Update the changelog", "status": "pending"},
        )
    )
    yield Notice("The project's hooks stay off until the folder is trusted.", "warning")
    for at in range(0, len(MARKDOWN), 7):
        yield TextDelta(MARKDOWN[at : at + 7])
    yield AssistantMessage({"role": "assistant", "content": []}, complete=False)
    yield TurnFinished(1, "interrupted")


_CPU = """failed (cpu_limit): 1 call

The program was ended at its limit of 10 s of CPU time; waiting for calls does not count. Look for a loop that never \
ends or a costly regular expression, or split the work.

No call that changes anything has run."""

_MEMORY = """failed (memory_limit): no calls

The program was ended at its limit of 256 MB of memory. Keep less at a time: handle each result as it comes and keep \
only what is needed."""

_CALLS = """failed (call_limit): 9 calls

The program was ended at its limit of 9 calls. Ask for more with each call, or go on in another program."""

_EXCEPTION = """failed (exception): 1 call

TypeError: cannot read property 'value' of undefined
at line 1, column 8:
  1 | return x.value;
             ^"""

ENDED = (
    ("while (true) {}", 1, "cpu limit, 1 call", _CPU),
    ("all.push(more)", 0, "memory limit, no calls", _MEMORY),
    ("for (const file of files) await tools.Read(file)", 9, "call limit, 9 calls (its limit is 9)", _CALLS),
    ("return x.value;", 1, "exception, 1 call", _EXCEPTION),
)
"""Programs that were ended: code, number of calls, summary, and what the model was told."""


def troubles() -> Iterator[Event]:
    """What goes wrong: programs at their limits, a program's error, an output that is too big, a hook, a server."""
    yield TurnStarted(1, "do it")
    yield Notice(
        "The server jira failed: it said: cannot open database. Its tools cannot be used, and /tools shows them as "
        "MISSING. /mcp jira tells more; /mcp reconnect jira tries again.",
        "warning",
    )
    for number, (code, calls, summary, text) in enumerate(ENDED):
        program = start(f"p{number}", "run_code", code, code=code)
        yield program
        for each in range(1, calls + 1):
            inner = start(f"p{number}_{each}", "Read", f"file{each}.py", parent=f"p{number}")
            yield inner
            yield finish(inner, "12 lines")
        yield finish(program, summary, text, Status.FAILED)
    big = start("b", "Bash", "seq 1 200000", command="seq 1 200000")
    yield big
    text = "\n".join(map(str, range(1, 200_001)))
    told = (
        "1\n2\n[\u2026 1,259,901 bytes left out; the whole output is in "
        "/home/me/.mcode/projects/parser/0b1c/output-10c5f9aa.txt \u2026]\n200000"
    )
    yield finish(big, "exit 0", told, data={"stdout": text, "exit_code": 0})
    yield Notice(
        "The PreToolUse hook ./check.sh failed: exit code 1. It decided nothing: the call goes on to the permission "
        "check as if there were no hook.",
        "warning",
    )
