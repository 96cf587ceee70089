"""Prompts of MCP servers as commands: `/mcp__server__prompt ARGUMENTS` sends what the server makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import CommandResult
from mcode.mcp.servers import Servers

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.commands.registry import Arguments

PREFIX = "mcp__"


async def run_prompt(context: CommandContext, name: str, arguments: Arguments) -> CommandResult | None:
    """Send a server's prompt as a message; None where the name is none of a prompt. Raises UsageError."""
    servers = context.agent.builder.shelf.servers
    if not name.lower().startswith(PREFIX) or not isinstance(servers, Servers):
        return None
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
    context.agent.queue(text, typed=False)
    return CommandResult(f"Sent, as the server wrote it:\n{text}", {"sent": text})
