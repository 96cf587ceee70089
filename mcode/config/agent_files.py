"""Definitions of sub-agents: Markdown files of the project and the user's, and JSON of the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.memory_files import Ground
from mcode.config.memory_reading import NotRead, check_reach, read_memory_text, rule_files
from mcode.config.plain_file import resolve
from mcode.config.settings import Source
from mcode.config.skill_places import project_directories
from mcode.errors import UsageError
from mcode.jsontext import JsonError, parse_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from mcode.config.front_matter import FrontMatter
    from mcode.config.places import Places
    from mcode.config.settings import HookHandler
    from mcode.jsontext import JsonObject, JsonValue

_NAME = r"[A-Za-z0-9_][\w. -]{0,99}"
_WORKTREE = "worktree"
"""The one kind of isolation that there is."""

_FAMILIES = (".mcode", ".claude", ".agents")


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One kind of sub-agent."""

    name: str
    description: str
    """When to use it: the model reads this."""
    prompt: str
    """Its system prompt."""
    scope: str
    """`managed`, `flag`, `project`, `user` or `mcode`."""
    path: Path | None = None
    tools: tuple[str, ...] = ()
    """Names of the tools that it has; empty means all that a sub-agent can have."""
    without: tuple[str, ...] = ()
    """Names of tools that it has not."""
    model: str = ""
    """Empty for the session's own."""
    mode: str = ""
    """The permission mode that it wants; empty for the session's."""
    max_turns: int | None = None
    """Requests that it may take."""
    skills: tuple[str, ...] = ()
    """Names of skills that it knows from the beginning."""
    servers: tuple[str, ...] = ()
    """Names of the servers whose tools it has; empty means all."""
    own_servers: Mapping[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])
    """Entries of servers that it alone has, by name, as they are written; they run while it does."""
    hooks: tuple[HookHandler, ...] = ()
    """They run for its own calls and at its own end."""
    background: bool = False
    """It works beside the conversation, and its answer comes later."""
    effort: str = ""
    """How hard its model tries; empty for as ever."""
    isolated: bool = False
    """It works in a git worktree of its own."""
    digest: str = ""
    """SHA-256 of the whole file, in hexadecimal; empty where there is none."""
    folder: Path | None = None
    """Of a project's: the directory that the file's family lies in, absolute and resolved."""
    problems: tuple[str, ...] = ()
    """What is wrong with its hooks and servers; it works all the same."""
    unused: tuple[str, ...] = ()
    """Fields that say something mcode does not do."""

    @property
    def in_listing(self) -> str:
        return " ".join(self.description.split())


def load_agents(
    places: Places, start: Path, sources: frozenset[str], given: str | None
) -> tuple[tuple[AgentFile, ...], tuple[str, ...]]:
    """All definitions, the strongest of each name, sorted by name; and what was not read, with the reason.

    `given` is the argument of `--agents`; before that come the administrator's files, then the project's, the nearest
    first, then the user's. Raises UsageError for `given` that is no JSON. Reads files: call it in a thread.
    """
    problems: list[str] = []
    directories = tuple(_directories(places, start))
    read = _Found(problems)
    read.add(each for each in directories if each[1].scope == "managed")
    for agent in agents_from_json(given, start) if given else ():
        read.agents.setdefault(agent.name, agent)
    read.add(each for each in directories if each[1].scope in sources)
    return tuple(sorted(read.agents.values(), key=lambda agent: agent.name)), tuple(problems)


@dataclass(slots=True)
class _Found:
    """The definitions so far: the first of a name counts."""

    problems: list[str]
    agents: dict[str, AgentFile] = field(default_factory=dict[str, AgentFile])

    def add(self, directories: Iterable[tuple[Path, Ground]]) -> None:
        for directory, ground in directories:
            for path in rule_files(directory, ground):
                agent = _read(path, ground, self.problems)
                if agent is not None:
                    self.agents.setdefault(agent.name, agent)


def any_agents(places: Places, start: Path) -> bool:
    """Whether there is any directory to look into; quick."""
    return any(directory.is_dir() for directory, _ in _directories(places, start))


def agents_from_json(text: str, start: Path) -> tuple[AgentFile, ...]:
    """Definitions of `--agents`: an object of objects by name. Raises UsageError."""
    try:
        content = parse_object(text)
    except JsonError as error:
        raise UsageError(
            f"--agents takes a JSON object of agents by name: {error}. Nothing was started."
        ) from None
    return tuple(_from_object(name, value, start) for name, value in content.items())


def _from_object(name: str, value: JsonValue, start: Path) -> AgentFile:
    from mcode.config.file_hooks import hooks_of, servers_in
    from mcode.config.skill_files import effort_named

    entry: JsonObject = as_object(value) or {}
    description, prompt = entry.get("description"), entry.get("prompt")
    if not isinstance(description, str) or not isinstance(prompt, str) or not re.fullmatch(_NAME, name):
        raise UsageError(
            f'--agents: {name!r} needs a plain name, and texts "description" and "prompt". Nothing was started.'
        )
    most: object = entry.get("maxTurns")
    servers, own_servers = servers_in(entry.get("mcpServers"))
    hooks, problems = hooks_of(entry.get("hooks") or {}, Source("flag", None, start, trusted=True))
    return AgentFile(
        name=name,
        description=description,
        prompt=prompt,
        scope="flag",
        tools=_texts(entry.get("tools")),
        without=_texts(entry.get("disallowedTools")),
        model=_model(str(entry.get("model", ""))),
        mode=str(entry.get("permissionMode", "")),
        max_turns=most if isinstance(most, int) and most > 0 else None,
        skills=_texts(entry.get("skills")),
        servers=servers,
        own_servers=own_servers,
        hooks=at_its_end(hooks),
        background=entry.get("background") is True,
        effort=effort_named(str(entry.get("effort", ""))),
        problems=problems,
        isolated=entry.get("isolation") == _WORKTREE,
        unused=_unused(entry.get("isolation"), entry.get("memory")),
    )


def _texts(value: JsonValue) -> tuple[str, ...]:
    entries = [value] if isinstance(value, str) else as_list(value) or []
    return tuple(entry for entry in entries if isinstance(entry, str))


def _directories(places: Places, start: Path) -> Iterable[tuple[Path, Ground]]:
    for managed in places.managed:
        for directory in (managed / "agents", managed / ".claude" / "agents"):
            yield directory, Ground("managed", directory)
    for above in project_directories(start):
        if above != places.home:  # there they are the user's own
            for family in _FAMILIES:
                yield above / family / "agents", Ground("project", above, above)
    for directory in (places.state, places.claude, places.home / ".agents"):
        yield directory / "agents", Ground("user", directory)


def _read(path: Path, ground: Ground, problems: list[str]) -> AgentFile | None:
    """One file; None for one without a name, which is documentation, and for one that cannot be used."""
    from mcode.config.front_matter import read_front_matter
    from mcode.config.skill_files import digest_of

    try:
        real = resolve(path)
        check_reach(path, real, ground)
        text, notice = read_memory_text(real)
    except NotRead as not_read:
        problems.append(str(not_read))
        return None
    except OSError as error:
        problems.append(f"{path} was not read: {error.strerror or error}.")
        return None
    if notice:
        problems.append(notice)
    front = read_front_matter(text)
    name = front.text("name")
    if not name:
        if front.problem:
            problems.append(f"{path}: {front.problem}; it is no agent.")
        return None
    if not re.fullmatch(_NAME, name) or not front.text("description"):
        problems.append(f"{path} is no agent: it needs a plain name and a description.")
        return None
    agent = _agent(name, path, ground, front)
    problems.extend(f"{path}: {problem}" for problem in agent.problems)
    return replace(agent, digest=digest_of(text))


def _agent(name: str, path: Path, ground: Ground, front: FrontMatter) -> AgentFile:
    from mcode.config.file_hooks import hooks_in
    from mcode.config.skill_files import effort_named

    most = front.text("maxTurns")
    servers, own_servers, problems = _servers(front)
    hooks: tuple[HookHandler, ...] = ()
    if "hooks" in front.values:
        hooks, wrong = hooks_in(front, path, ground.scope, ground.fence or path.parent)
        problems += wrong
    return AgentFile(
        name=name,
        description=front.text("description"),
        prompt=front.body.strip(),
        scope=ground.scope,
        path=path,
        tools=_names(front.get("tools").listed),
        without=_names(front.get("disallowedTools").listed),
        model=_model(front.text("model")),
        mode=front.text("permissionMode"),
        max_turns=int(most) if re.fullmatch(r"0*[1-9][0-9]{0,8}", most) else None,
        skills=_names(front.get("skills").listed),
        servers=servers,
        own_servers=own_servers,
        hooks=at_its_end(hooks),
        background=front.get("background").is_true,
        effort=effort_named(front.text("effort")),
        folder=ground.fence,
        problems=problems,
        isolated=front.text("isolation") == _WORKTREE,
        unused=_unused(front.text("isolation"), front.text("memory")),
    )


def _unused(isolation: JsonValue, memory: JsonValue) -> tuple[str, ...]:
    """Fields of another agent that have no effect here: said wherever such an agent begins."""
    isolates = isolation == _WORKTREE or not isolation
    return (*(() if isolates else ("isolation",)), *(("memory",) if memory else ()))


def _servers(front: FrontMatter) -> tuple[tuple[str, ...], Mapping[str, JsonValue], tuple[str, ...]]:
    """The names of servers, the entries that stand in the file itself, and what is wrong with the field."""
    if "mcpServers" not in front.values:
        return (), {}, ()
    from mcode.config.file_hooks import servers_in
    from mcode.config.nested import NestedError, nested

    try:
        return (*servers_in(nested(front.get("mcpServers"))), ())
    except NestedError as error:
        return (), {}, (f"its mcpServers cannot be read and do not count: {error}",)


def at_its_end(hooks: Iterable[HookHandler]) -> tuple[HookHandler, ...]:
    """An agent's own end is that of a sub-agent: its Stop hooks are SubagentStop hooks."""
    return tuple(replace(hook, event="SubagentStop") if hook.event == "Stop" else hook for hook in hooks)


def _names(listed: Sequence[str]) -> tuple[str, ...]:
    """Names of tools in lists; what stands in parentheses belongs to the name before it."""
    return tuple(name for each in listed for name in re.findall(r"[^\s,()]+(?:\([^()]*\))?", each))


def _model(name: str) -> str:
    return "" if name.strip().lower() in ("", "inherit", "default") else name.strip()
