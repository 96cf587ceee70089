"""/status: where mcode stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import percent, plural, table, tokens

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject


async def _status(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/status")
    agent, around = context.agent, context.around
    data: JsonObject = {
        "version": around.version,
        "session": agent.session.id,
        "name": agent.name,
        "file": str(agent.session.journal.path),
        "directory": str(agent.workspace.start),
        "additional_directories": [str(root) for root in agent.workspace.additional],
        "model": agent.model,
        "endpoint": around.endpoint,
        "credential": around.credential,
        "mode": agent.mode,
        "sandbox": agent.policy.sandbox,
        "busy": agent.busy,
        "settings": [str(source.path) for source in agent.settings.sources if source.path is not None],
        "problems": len(agent.settings.problems),
    }
    rows = [
        ("version", around.version),
        ("session", f"{agent.session.id}{f'  ({agent.name})' if agent.name else ''}"),
        ("file", data["file"]),
        ("directory", data["directory"]),
        *(("also", root) for root in data["additional_directories"]),
        ("model", f"{agent.model} at {around.endpoint}"),
        ("key", around.credential),
        ("mode", agent.mode),
        ("sandbox", agent.policy.sandbox or "off"),
        ("settings", ", ".join(data["settings"]) or "none"),
        ("window", _window(context)),
        ("now", "a turn runs" if agent.busy else "waiting for you"),
    ]
    lines = ["Status", table(rows)]
    if data["problems"]:
        lines.append(f"  {plural(data['problems'], 'problem')} in the settings: /config shows them")
    return CommandResult("\n".join(lines), data)


def _window(context: CommandContext) -> str:
    ledger = context.agent.ledger
    if ledger is None:
        return "no request yet"
    used = ledger.input_tokens or ledger.definitions + ledger.system + ledger.messages + ledger.results
    return f"{tokens(used)} of {tokens(ledger.window)} ({percent(used, ledger.window)})"


STATUS = Command("status", "session, model, key, directories and settings files", _status)
