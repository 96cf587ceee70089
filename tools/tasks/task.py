"""What a task is, and how a scripted model goes about one in each of the three modes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from mcode.model.script.values import reply, script_of, use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcode.demo.serving import Service
    from mcode.model.script.values import Reply, Script
    from mcode.model.script.view import RequestView, Result

MODES: dict[str, dict[str, Any]] = {
    "everything": {"toolSearch": "false", "programs": "off"},
    "search": {"toolSearch": "true", "programs": "off"},
    "programs": {"toolSearch": "true", "programs": "beside"},
}
"""Settings of each mode."""

ANSWER = "answer.json"
"""The file that most tasks want their answer in: what is checked is a file, not prose."""

Calls: TypeAlias = "Sequence[tuple[str, dict[str, Any]]]"
"""The calls of one round trip: tools with arguments."""

NOTHING: dict[str, Any] = {}
"""No arguments."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left when a task is over."""

    project: Path
    calls: tuple[tuple[str, dict[str, Any], bool], ...]
    """Every call that was made, those of programs too: tool, arguments, whether it went well."""
    text: str

    def answer(self) -> Any:
        """What stands in the answer's file; None where there is none, or no JSON."""
        try:
            return json.loads((self.project / ANSWER).read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def called(self, tool: str) -> int:
        """How often a tool was called."""
        return sum(name == tool for name, _, _ in self.calls)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the scripted model has been told so far."""

    view: RequestView

    def of(self, tool: str) -> list[tuple[dict[str, Any], str]]:
        """Arguments and text of every result of a tool, however it was called."""
        return [
            (arguments, result.text)
            for result in self.view.all_results
            for name, arguments in [_meant(result)]
            if name == tool
        ]

    def data(self, tool: str) -> Any:
        """The first result of a tool as JSON."""
        return json.loads(self.of(tool)[0][1])

    def each(self, tool: str, key: str) -> dict[str, Any]:
        """Results of a tool as JSON, by one of its arguments; the last one counts, failed ones do not."""
        return {
            arguments[key]: json.loads(result.text)
            for result in self.view.all_results
            for name, arguments in [_meant(result)]
            if name == tool and not result.is_error
        }


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do, with a checker of the outcome."""

    question: str
    check: Callable[[Outcome], str]
    """What is wrong with an outcome; empty where it is right."""
    steps: Sequence[Callable[[Seen], Calls]]
    """How the scripted model goes about it by direct calls: the calls of each round trip."""
    servers: Mapping[str, Callable[[], Service]] = field(default_factory=dict[str, Any])
    prepare: Callable[[Path], None] = lambda project: None
    """Puts files into the project."""
    queries: Sequence[str] = ()
    """What it searches for, where its tools are deferred."""
    needs: Sequence[str] = ()
    """The tools that it has to find."""
    program: str = ""
    """The program that it writes where programs may be written; empty where none is called for."""
    opening: str = "all its servers' tools"

    def script(self, mode: str) -> Script:
        """The scripted model for one mode."""
        return script_of(fallback=_Policy(self, mode).answer, name=f"policy for {mode}")


def save(value: Any) -> tuple[str, dict[str, Any]]:
    """The call that puts down the answer."""
    return "Write", {"file_path": ANSWER, "content": json.dumps(value)}


@dataclass(frozen=True, slots=True)
class _Policy:
    """Answers each request by how far the conversation has come; it remembers nothing itself."""

    task: Task
    mode: str

    def answer(self, view: RequestView) -> Reply:
        searches = [result for result in view.all_results if result.tool == "tool_search"]
        if self.mode != "everything" and self.task.queries:
            if not searches:
                return reply(
                    use(
                        "tool_search",
                        {"queries": list(self.task.queries), "k": min(10, len(self.task.queries) + 1)},
                    )
                )
            missing = [
                name
                for name in self.task.needs
                if not any(f'"name":"{name}"' in each.text for each in searches)
            ]
            if missing and len(searches) == 1:
                return reply(use("tool_search", {"queries": [f"select:{','.join(missing)}"], "k": 10}))
        if self.mode == "programs" and self.task.program:
            ran = view.last_result("run_code")
            return reply(
                "Done." if ran else "One program.",
                *([] if ran else [use("run_code", {"code": self.task.program})]),
            )
        made = len({at for at, message in enumerate(view.messages) if message["role"] == "assistant"}) - len(
            searches
        )
        if made >= len(self.task.steps):
            return reply("Done.")
        calls = self.task.steps[made](Seen(view))
        return reply(*(self._use(view, tool, arguments) for tool, arguments in calls))

    def _use(self, view: RequestView, tool: str, arguments: dict[str, Any]) -> Any:
        if tool in view.tool_names or "call_tool" not in view.tool_names:
            return use(tool, arguments)
        return use("call_tool", {"name": tool, "arguments": arguments})


def _meant(result: Result) -> tuple[str, dict[str, Any]]:
    if result.tool == "call_tool":
        return str(result.arguments.get("name")), result.arguments.get("arguments") or {}
    return result.tool, result.arguments
