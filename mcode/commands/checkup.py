"""What is wrong, or not as it may be meant, in the settings of this folder: each check is one function."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from mcode import jsontext
from mcode.commands.hooks import blocks_unrun, fails_open
from mcode.config.json_parts import as_object
from mcode.config.settings import RuleText
from mcode.errors import StorageError
from mcode.files import check_writable
from mcode.permissions.names import ARGUMENTS
from mcode.permissions.rules import read_rule
from mcode.pipeline.hook_match import TOOL_EVENTS, is_meant
from mcode.process.sandbox import sandbox_availability

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.commands.host import CommandContext
    from mcode.config.settings import HookHandler, Problem
    from mcode.permissions.rules import Rule

Level: TypeAlias = Literal["error", "warning", "info", "ok"]
"""`error`: something that was asked for does not work. `warning`: something can never have its effect.
`info`: good to know. `ok`: looked at, and well."""

LEVELS: tuple[Level, ...] = ("error", "warning", "info", "ok")

SUBJECTS: dict[str, tuple[str, ...]] = {
    "SessionStart": ("startup", "resume", "clear", "compact", "fork"),
    "SessionEnd": ("clear", "resume", "logout", "prompt_input_exit", "other"),
    "PreCompact": ("manual", "auto"),
    "PostCompact": ("manual", "auto"),
    "Notification": ("permission_prompt", "idle_prompt", "elicitation_dialog"),
    "InstructionsLoaded": ("session_start", "nested_traversal"),
    "ConfigChange": ("policy_settings", "user_settings", "project_settings", "local_settings"),
    "DirectoryAdded": ("slash_command",),
}
"""What the matchers of an event can be about, where that is no tool."""

_FREE = frozenset(
    {
        *("SubagentStart", "SubagentStop", "UserPromptExpansion", "PreModelSwitch", "PostModelSwitch"),
        "FileChanged",
    }
)
"""Events whose matchers may name anything."""

UNKNOWN_TOOLS = frozenset({"off", "needs approval", "needs sign-in", "failed", "connecting", "disabled"})
"""States of a server whose tools may be other ones than are known."""

_REFUSED = {
    "loading": "references to deferred tools (defer_loading); they are called through call_tool instead"
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    area: str
    """`state`, `settings`, `key`, `rules`, `hooks`, `servers`, `trust`, `endpoint` or `sandbox`."""
    subject: str
    """Which file, rule, hook or server."""
    text: str
    """What is so, and what comes of it."""
    advice: str = ""
    """What to do."""


def examine(context: CommandContext) -> list[Finding]:
    """Look at everything. Starts nothing of the folder's; trying the sandbox takes a moment, so call it in a thread."""
    return [
        *_state(context),
        *_settings(context),
        *_key(context),
        *_rules(context),
        *_hooks(context),
        *_servers(context),
        *_trust(context),
        *_endpoint(context),
        *_sandbox(context),
    ]


def _state(context: CommandContext) -> Iterator[Finding]:
    """Whether sessions could keep what they have to keep; a fault of the whole stands for its parts."""
    places = context.around.places
    for directory in (places.state, places.projects, places.logs):
        try:
            check_writable(directory)
        except StorageError as error:
            yield Finding("error", "state", str(directory), f"no session can begin: {error}")
            return
    yield Finding("ok", "state", str(places.state), "can be written")


def _settings(context: CommandContext) -> Iterator[Finding]:
    for problem in (*context.agent.settings.problems, *context.around.problems()):
        if problem.text != context.agent.settings.untrusted:
            yield _of_problem("settings", problem)
    for source in context.agent.settings.sources:
        if source.path is not None:
            yield Finding("ok", "settings", str(source.path), f"read ({source.scope})")


def _of_problem(area: str, problem: Problem) -> Finding:
    levels: dict[str, Level] = {"error": "error", "warning": "warning"}
    return Finding(levels.get(problem.severity, "info"), area, problem.subject, problem.text)


def _key(context: CommandContext) -> Iterator[Finding]:
    around = context.around
    if around.looked_at:
        looked = "; ".join(f"{place}: {state}" for place, state in around.looked_at)
        text = f"no key was found ({looked}), so an offline guide answers"
        advice = "set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL (--base-url) for an endpoint that needs none"
        yield Finding("info", "key", "none", text, advice)
    elif around.credential == "none":
        yield Finding("ok", "key", around.endpoint, "no key is set, and none is sent")
    else:
        yield Finding("ok", "key", around.endpoint, f"the key is that of {around.credential}")


def _rules(context: CommandContext) -> Iterator[Finding]:
    policy = context.agent.policy
    faults = [(rule, fault) for rule in policy.rules if (fault := _tool_fault(context, rule)) is not None]
    for problem in policy.problems:
        said = [fault for fault in faults if _is_about(problem, fault[0])]
        faults = [fault for fault in faults if fault not in said]
        yield replace(_of_problem("rules", problem), advice="; ".join(why for _, (_, why) in said))
    for rule, (level, why) in faults:
        yield Finding(level, "rules", rule.cited, f"no tool is meant by this {rule.behavior} rule: {why}")


def _is_about(problem: Problem, rule: Rule) -> bool:
    """Whether a problem is one of this very rule."""
    return (problem.path, problem.line) == (rule.source.path, rule.line) and f"`{rule.text}`" in problem.text


def _tool_fault(context: CommandContext, rule: Rule) -> tuple[Level, str] | None:
    """Why a rule means no tool; None where it means one."""
    name = rule.tool
    if any(rule.is_about(tool.name, tool.source) for tool in context.agent.catalog):
        return None
    if name in ARGUMENTS:
        return "info", f"mcode knows the name {name}, but has no such tool here"
    server = name.split("__")[1] if name.startswith("mcp__") and "__" in name else ""
    states = {status.name: status.state for status in context.agent.builder.shelf.servers.statuses()}
    if server and (states.get(server) in UNKNOWN_TOOLS or "*" in server):
        return (
            "info",
            f"the tools of the server {server} are not known ({states.get(server, 'none is connected')})",
        )
    if server and server not in states:
        return "warning", f"there is no server called {server}"
    near = context.agent.catalog.nearest(name, 2)
    return "warning", f"there is no tool called {name}" + (f"; is {' or '.join(near)} meant?" if near else "")


def _hooks(context: CommandContext) -> Iterator[Finding]:
    settings = context.agent.settings
    for handler in settings.hooks:
        name = _hook_name(handler)
        if handler.unsupported is not None:
            if blocks_unrun(handler):
                yield Finding(
                    "error", "hooks", name, f"cannot run, and so refuses everything: {handler.unsupported}"
                )
            else:
                yield Finding("warning", "hooks", name, f"never runs: {handler.unsupported}")
            continue
        yield from _matcher(context, handler, name)
        yield from _condition(context, handler, name)
        if fails_open(handler):
            text = "a failure of this hook lets the call go on"
            yield Finding("info", "hooks", name, text, '"onFailure": "block" closes it')


def _hook_name(handler: HookHandler) -> str:
    words = " ".join((handler.command, *(handler.args or ())))
    return f"{handler.event} {handler.matcher or '*'}: {words} ({handler.source.name})"


def _matcher(context: CommandContext, handler: HookHandler, name: str) -> Iterator[Finding]:
    if handler.event == "FileChanged" and handler.matcher.strip() in {"", "*"}:
        text = "its matcher names no file to look at, so it never runs"
        yield Finding("warning", "hooks", name, text, "name files of the project, as in .env|Makefile")
    if handler.event in _FREE:
        return
    if handler.event in TOOL_EVENTS or handler.event == "PermissionDenied":
        subjects = [tool.name for tool in context.agent.catalog]
        kind = "tool"
    else:
        subjects = list(SUBJECTS.get(handler.event, ("",)))
        kind = "subject"
    if any(is_meant(handler, subject) for subject in subjects):
        return
    server = re.fullmatch(r"mcp__([A-Za-z0-9_-]+?)", handler.matcher)
    if server is not None and "__" not in server[1]:
        advice = f"write {handler.matcher}__.* for all tools of that server"
        yield Finding("warning", "hooks", name, "its matcher is an exact name that no tool has", advice)
        return
    states = [status.state for status in context.agent.builder.shelf.servers.statuses()]
    unknown = "mcp__" in handler.matcher and any(state in UNKNOWN_TOOLS for state in states)
    known = "" if kind == "tool" else f"; {handler.event} has {', '.join(subjects)}"
    text = f"its matcher fits no {kind} that there is{known}, so it never runs"
    yield Finding("info" if unknown else "warning", "hooks", name, text)


def _condition(context: CommandContext, handler: HookHandler, name: str) -> Iterator[Finding]:
    if handler.condition is None:
        return
    if handler.event not in TOOL_EVENTS:
        yield Finding("warning", "hooks", name, "never runs: `if` can only be true of a call")
        return
    rule, problems = read_rule(RuleText(handler.condition, "ask", handler.source))
    if rule is None or rule.malformed:
        why = problems[0].text if problems else "it cannot be read"
        yield Finding("warning", "hooks", name, f"runs for every call, since its `if` is no good rule: {why}")
    elif (fault := _tool_fault(context, rule)) is not None:
        yield Finding(fault[0], "hooks", name, f"its `if` ({handler.condition}) is never true: {fault[1]}")


def _servers(context: CommandContext) -> Iterator[Finding]:
    levels: dict[str, Level] = {
        "failed": "error",
        "needs sign-in": "warning",
        "connected": "ok",
        "cached": "ok",
    }
    advice = {
        "failed": "`mcode mcp test NAME` says more",
        "needs sign-in": "`mcode mcp login NAME` signs you in",
        "needs approval": "/trust, or `mcode mcp approve NAME`",
    }
    for status in context.agent.builder.shelf.servers.statuses():
        text = f"{status.state}, {status.tools} tools" + (f": {status.error}" if status.error else "")
        what = advice.get(status.state, "").replace("NAME", status.name)
        yield Finding(levels.get(status.state, "info"), "servers", status.name, text, what)


def _trust(context: CommandContext) -> Iterator[Finding]:
    control, folder = context.around.trust, str(context.agent.workspace.start)
    if control is None:
        return
    for item in control.granted():
        facts = "; ".join(f"{label}: {text}" for label, text in item.facts.items() if label != "file")
        yield Finding("ok", "trust", f"{item.kind} {item.key}", f"trusted: {facts}")
    waiting, refused = control.waiting(), control.refused()
    if waiting:
        names = ", ".join(f"{item.kind} {item.key}" for item in waiting)
        text = f"{len(waiting)} not trusted, and without effect: {names}"
        yield Finding("info", "trust", folder, text, "/trust shows them, and lets you decide")
    if refused:
        yield Finding("info", "trust", folder, f"{len(refused)} refused, until they change")
    if not waiting and not refused:
        yield Finding("ok", "trust", folder, "nothing waits for your word")


def _endpoint(context: CommandContext) -> Iterator[Finding]:
    """What endpoints refused in earlier sessions, and is not tried again."""
    path = context.around.places.state / "cache" / "endpoints.json"
    try:
        known = jsontext.parse_object(path.read_text("utf-8"))
    except FileNotFoundError:
        known = {}
    except (OSError, ValueError) as error:
        yield Finding(
            "warning", "endpoint", str(path), f"cannot be read, so refused features are tried again: {error}"
        )
        return
    refused = [
        Finding("info", "endpoint", address, f"refused {_REFUSED.get(name, f'{name} ({value})')}")
        for address, facts in known.items()
        for name, value in (as_object(facts) or {}).items()
    ]
    yield from refused or [Finding("ok", "endpoint", "all endpoints", "none has refused a feature so far")]


def _sandbox(context: CommandContext) -> Iterator[Finding]:
    found = sandbox_availability(outside=context.agent.workspace.roots)
    if found.available:
        limits = f"; {'; '.join(found.limits)}" if found.limits else ""
        yield Finding(
            "ok", "sandbox", found.method, f"available{limits}", "--sandbox, or the setting mcode.sandbox"
        )
        return
    level: Level = "error" if context.agent.settings.own.sandbox else "info"
    yield Finding(level, "sandbox", "none", f"there is no sandbox on this system: {found.why_not}")


def worst(findings: Sequence[Finding]) -> Level:
    """The gravest level among them."""
    found = {finding.level for finding in findings}
    for level in LEVELS:
        if level in found:
            return level
    return "ok"
