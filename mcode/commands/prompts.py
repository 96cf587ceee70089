"""Prompts of MCP servers as commands: `/mcp__server__prompt ARGUMENTS` sends what the server makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import CommandResult
from mcode.mcp.servers import Servers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import Arguments

PREFIX = "mcp__"

PATIENCE = 30.0
"""Seconds for the server of a prompt that is not known yet to connect and list its prompts."""


async def run_prompt(context: CommandContext, name: str, arguments: Arguments) -> CommandResult | None:
    """Send a server's prompt as a message; None where the name is none of a prompt. Raises UsageError."""
    servers = _servers(context)
    if not name.lower().startswith(PREFIX) or servers is None:
        return None
    text = await servers.extras.prompt_text(name, arguments.words)
    if text is None:
        await servers.extras.learn_prompt(name, PATIENCE)
        text = await servers.extras.prompt_text(name, arguments.words)
    if text is None:
        return None
    if not text:
        return CommandResult(f"/{name} gave no text; nothing was sent.", {"sent": ""}, failed=True)
    fields = {"expansion_type": "mcp_prompt", "command_name": name, "command_args": " ".join(arguments.words)}
    said = await context.agent.hooks.other("UserPromptExpansion", {**fields, "prompt": text}, name)
    why = said.blocked if said.blocked is not None else said.stop
    if why is not None:
        return CommandResult(
            f"A hook objects to /{name}: {why}. Nothing was sent.", {"sent": ""}, failed=True
        )
    text = "\n\n".join((text, *said.notes))
    # What a server wrote is sent as it is: files that it names with @ are not read on the user's behalf.
    turn = context.agent.queue(text, typed=False)
    return CommandResult(f"Sent, as the server wrote it:\n{text}", {"sent": text}, turn=turn)


def prompt_names(context: CommandContext) -> Sequence[str]:
    """The commands of all prompts that are known now."""
    servers = _servers(context)
    return [prompt.name for prompt in servers.extras.prompts()] if servers is not None else ()


def _servers(context: CommandContext) -> Servers | None:
    servers = context.agent.builder.shelf.servers
    return servers if isinstance(servers, Servers) else None
