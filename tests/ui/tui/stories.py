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
