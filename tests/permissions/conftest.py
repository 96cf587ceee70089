"""A small house to decide in: a repository, a home, tools that name what they touch, and one-line questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from mcode.call import Call, Origin
from mcode.config.settings import RuleText, Settings, Source
from mcode.permissions.decide import Behavior, Policy, Verdict
from mcode.permissions.explain import parse_call_text
from mcode.permissions.modes import Mode
from mcode.tool import Access, Effect, Tool, ToolResult, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices

READS = frozenset({Effect.READS_FILES})
WRITES = frozenset({Effect.WRITES_FILES})


class Named(Tool):
    """A tool that does nothing and says truthfully what it would touch."""

    description = ""

    def __init__(
        self,
        name: str,
        effects: frozenset[Effect] = frozenset(),
        touch: Callable[[JsonObject], Access] = lambda arguments: Access(),
        source: str = "core",
    ) -> None:
        self.name = name
        self.effects = effects
        self.source = source
        self.input_schema = {"type": "object"}
        self._touch = touch

    @override
    def access(self, arguments: JsonObject, workspace: Workspace) -> Access:
        del workspace
        return self._touch(arguments)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        raise AssertionError("nothing runs in these tests")


def _host(arguments: JsonObject) -> Access:
    return Access(domain=str(arguments["url"]).partition("://")[2].partition("/")[0])


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Named("Bash", frozenset({Effect.RUNS_COMMANDS}), lambda given: Access(command=given["command"])),
        Named("Read", READS, lambda given: Access(reads=(Path(given["file_path"]),))),
        Named("Grep", READS, lambda given: Access(reads=(Path(given["path"]),))),
        Named("Edit", WRITES, lambda given: Access(writes=(Path(given["file_path"]),))),
        Named("Write", WRITES, lambda given: Access(writes=(Path(given["file_path"]),))),
        Named("WebFetch", frozenset({Effect.NETWORK}), _host),
        Named("Agent", frozenset({Effect.RUNS_COMMANDS})),
        Named("Skill", frozenset({Effect.RUNS_COMMANDS})),
        Named("TodoWrite", frozenset({Effect.CHANGES_SESSION})),
        Named("AskUserQuestion", frozenset({Effect.ASKS_USER})),
        Named("mcp__gh__get_issue", frozenset({Effect.NETWORK}), source="gh"),
        Named("mcp__gh__close_issue", frozenset({Effect.NETWORK}), source="gh"),
        Named("mcp__gh__x__y", frozenset({Effect.NETWORK}), source="gh__x"),
    )
}


@dataclass
class House:
    """A scratch copy of `/w` (the repository, working directory) and `/h` (the home)."""

    root: Path
    settings: Settings = field(default_factory=Settings)
    additional: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    can_bypass: bool = True

    @property
    def start(self) -> Path:
        return self.root / "w"

    @property
    def home(self) -> Path:
        return self.root / "h"

    def source(self, scope: str = "project") -> Source:
        base = self.home / ".claude" if scope == "user" else self.start
        path = None if scope in ("session", "cli") else base / "settings.json"
        return Source(scope, path, base, trusted=True)

    def rule(self, text: str, scope: str = "project", line: int = 3) -> RuleText:
        """A rule written as `allow Bash(x)`."""
        behavior, _, rule = text.partition(" ")
        return RuleText(rule, behavior, self.source(scope), line)

    def path(self, text: str) -> str:
        """`/w/...` and `/h/...` stand for the scratch directories; other paths are real ones."""
        for name in ("w", "h"):
            if text == f"/{name}" or text.startswith(f"/{name}/"):
                return str(self.root) + text
        return text

    def workspace(self) -> Workspace:
        return Workspace(self.start, self.additional, home=self.home)

    def policy(
        self, *rules: str | RuleText, mode: Mode = Mode.DEFAULT, settings: Settings | None = None
    ) -> Policy:
        texts = [rule if isinstance(rule, RuleText) else self.rule(rule) for rule in rules]
        return Policy(
            settings or self.settings,
            self.workspace(),
            mode,
            cli_rules=texts,
            can_bypass=self.can_bypass,
            own=(self.home / ".mcode",),
            readable=self.readable,
        )

    def call(self, text: str, **options: Any) -> tuple[Call, Tool, Access]:
        """A call from the way a person types it, such as `Edit /w/a.py`."""
        name, arguments = parse_call_text(text)
        for key in ("file_path", "path"):
            if key in arguments:
                arguments[key] = self.path(arguments[key])
        if name == "Grep":
            arguments.setdefault("path", str(self.start))
        tool = TOOLS[name]
        call = Call("call-1", name, arguments, **options)
        return call, tool, tool.access(arguments, self.workspace())

    def decide(
        self, rules: Sequence[str], call: str, *, mode: Mode = Mode.DEFAULT, **options: Any
    ) -> Verdict:
        return self.policy(*rules, mode=mode).decide(*self.call(call), **options)

    def outcome(self, rules: Sequence[str], call: str, *, mode: Mode = Mode.DEFAULT, **options: Any) -> str:
        return str(self.decide(rules, call, mode=mode, **options).behavior)

    def typed(self, rules: Sequence[str], call: str, *, mode: Mode = Mode.DEFAULT) -> Verdict:
        """The verdict about what the user typed themselves."""
        return self.policy(*rules, mode=mode).decide(*self.call(call, origin=Origin.USER))


@pytest.fixture
def house(tmp_path: Path) -> House:
    root = tmp_path.resolve()
    for directory in ("w/src", "w/vendor/p/src", "w/docs", "w/a", "h/notes", "h/other"):
        (root / directory).mkdir(parents=True)
    return House(root)


STRENGTH = {Behavior.ALLOW: 0, Behavior.ASK: 1, Behavior.DENY: 2}
