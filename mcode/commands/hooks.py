"""/hooks: the user's hooks, and what a failing one would mean."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural
from mcode.config.supplied import HOOK
from mcode.pipeline.hook_match import GUARDED

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.config.settings import HookHandler
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hook_round import LastRun

_OUTPUT = 200
"""Characters of a hook's last output that are shown."""

_FAILS_OPEN = "if it fails, the call goes on (onFailure is continue)"


async def _hooks(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/hooks")
    settings, runs = context.agent.settings, context.agent.hooks.last_runs
    data: JsonObject = {
        "disabled": settings.disable_all_hooks,
        "hooks": [_as_object(handler, runs.get(handler)) for handler in settings.hooks],
    }
    untrusted = sum(item.kind == HOOK for item in settings.withheld)
    off = f"Not trusted and never run: {plural(untrusted, 'hook')} of this folder. /trust shows them."
    if not settings.hooks:
        none = "No hooks are set. They stand under `hooks` in a settings file: ~/.mcode/settings.json for your own."
        return CommandResult(off if untrusted else none, data)
    lines = [f"{plural(len(settings.hooks), 'hook')}", *([off] if untrusted else [])]
    if settings.disable_all_hooks:
        lines.append("All hooks are switched off by disableAllHooks; none of these runs.")
    for event in sorted({handler.event for handler in settings.hooks}):
        lines.append(event)
        for handler in settings.hooks:
            if handler.event == event:
                lines += [*_describe(handler), *_told(handler, runs.get(handler))]
    return CommandResult("\n".join(lines), data)


def fails_open(handler: HookHandler) -> bool:
    """True where a call that this hook should judge goes on when the hook breaks."""
    return (
        handler.event == "PreToolUse"
        and handler.unsupported is None
        and (handler.on_failure != "block" or handler.run_async)
    )


def blocks_unrun(handler: HookHandler) -> bool:
    """True where a hook that cannot run refuses everything that it is meant for."""
    return (
        handler.unsupported is not None
        and handler.on_failure == "block"
        and handler.event in GUARDED
        and not handler.run_async
    )


def _describe(handler: HookHandler) -> list[str]:
    lines = [f"  {handler.matcher or '*'}  {_command(handler)}"]
    facts = [_place(handler)]
    if handler.condition:
        facts.append(f"if {handler.condition}")
    if handler.timeout is not None:
        facts.append(f"at most {handler.timeout:g} s")
    if handler.run_async:
        facts.append("in the background, decides nothing")
    lines.append(f"      {', '.join(facts)}")
    if handler.unsupported is not None:
        lines.append(f"      NOT RUN: {handler.unsupported}")
        if blocks_unrun(handler):
            lines.append(
                "      and since its onFailure is block, it refuses whatever it should have looked at"
            )
    elif fails_open(handler):
        lines.append(f"      FAILS OPEN: {_FAILS_OPEN}")
    elif handler.event == "PreToolUse":
        lines.append("      fails closed: a failure blocks the call")
    return lines


def _told(handler: HookHandler, last: LastRun | None) -> list[str]:
    """How its last run in this session went."""
    if last is None:
        return []
    told = _last(handler, last)
    words = [f"last run {told['last_run']}", f"{told['last_took']} s", str(told["last_outcome"])]
    lines = [f"      {', '.join(words)}: {told['last_effect']}"]
    return [*lines, f"      it said: {told['last_output']}"] if told["last_output"] else lines


def _last(handler: HookHandler, last: LastRun | None) -> JsonObject:
    """When a hook ran last, how long it took, how it ended, what that meant, and what it said."""
    if last is None:
        return {"last_run": "", "last_took": "", "last_outcome": "", "last_effect": "", "last_output": ""}
    ran = last.ran
    code = f" (exit {ran.exit_code})" if ran.exit_code else ""
    word = {"success": "ok", "blocked": "blocked", "failed": "FAIL", "cancelled": "cancelled"}[ran.outcome]
    said = " ".join((last.problem or ran.stderr or ran.stdout).split())
    return {
        "last_run": time.strftime("%H:%M:%S", time.localtime(last.at)),
        "last_took": f"{ran.duration:.1f}",
        "last_outcome": "FAIL" + code if last.problem else word + code,
        "last_effect": _effect(handler, last),
        "last_output": said[:_OUTPUT],
    }


def _effect(handler: HookHandler, last: LastRun) -> str:
    """What a run meant for what it was about."""
    what = "the call" if last.ran.call_id is not None else "what it was about"
    if handler.run_async:
        return "in the background, it decided nothing"
    if last.ran.outcome == "blocked":
        return f"{what} was refused"
    if last.stops:
        before = handler.event == "PreToolUse"
        return f"{what} was refused, and the turn ended" if before else "it asked for the end of the turn"
    if last.decision == "ask":
        return f"{what} was to be asked about"
    if last.problem:
        return f"{what} went on without it"
    return f"{what} was interrupted" if last.ran.outcome == "cancelled" else f"{what} went on"


def _command(handler: HookHandler) -> str:
    return " ".join((handler.command, *(handler.args or ())))


def _place(handler: HookHandler) -> str:
    return str(handler.source.path) if handler.source.path else handler.source.scope


def _as_object(handler: HookHandler, last: LastRun | None) -> JsonObject:
    return {
        "event": handler.event,
        "matcher": handler.matcher,
        "command": _command(handler),
        "if": handler.condition,
        "timeout": handler.timeout,
        "async": handler.run_async,
        "onFailure": handler.on_failure,
        "scope": handler.source.scope,
        "path": str(handler.source.path) if handler.source.path else None,
        "unsupported": handler.unsupported,
        "fails_open": fails_open(handler),
        **_last(handler, last),
    }


HOOKS = Command("hooks", "the hooks, and which of them would fail open", _hooks)
