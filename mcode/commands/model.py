"""/model: which model answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import table, tokens
from mcode.errors import EndpointError, UsageError

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext


async def _model(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, "/model [name]")
    agent = context.agent
    if words:
        old = agent.model
        switch = {"from_model": old, "to_model": words[0], "requested_model": words[0], "source": "command"}
        objection = await agent.hooks.other("PreModelSwitch", switch, words[0])
        why = objection.blocked if objection.blocked is not None else objection.stop
        if why is not None:
            raise UsageError(f"A hook does not want the model {words[0]}: {why}. The model is still {old}.")
        agent.set_model(words[0])
        agent.hooks.observe("PostModelSwitch", switch, words[0])
        text = (
            f"The model is now {agent.model} (it was {old}). The next request begins a new prefix, so the "
            "provider's cache of the conversation does not serve it."
        )
        return CommandResult(text, {"model": agent.model, "before": old})
    lines = [f"Model: {agent.model}   at {context.around.endpoint}"]
    try:
        offered = list(await context.around.models())
    except EndpointError as error:
        offered = []
        lines.append(f"The list of models could not be read. {error}")
    rows = [
        (
            f"{'*' if each.id == agent.model else ' '} {each.id}",
            each.display_name if each.display_name != each.id else "",
            f"window {tokens(each.window)}" if each.window else "",
        )
        for each in offered
    ]
    lines += [table(rows)] if rows else []
    lines.append("Change it with /model NAME; names that are not listed are sent as they are.")
    return CommandResult("\n".join(lines), {"model": agent.model, "offered": [each.id for each in offered]})


MODEL = Command("model", "show the model and those offered, or change it", _model, "[name]")
