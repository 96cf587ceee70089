"""What `mcode WORD ...` does without opening a session: one module a word, with `main(arguments) -> int`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SUBCOMMANDS = {
    "acp": "serve an editor over the Agent Client Protocol",
    "doctor": "what is wrong with this folder's settings, key, rules, hooks, servers and trust",
    "mcp": "the servers of tools (MCP): add, list, test, approve, sign in",
    "permissions": "what would happen to a shell command, part by part, without running it",
    "programs": "the programs that sessions of this folder have run",
    "report": "what a session sent, what it cost and what was saved",
    "run": "run a program that the project keeps, without a model",
    "tools": "the tools of this folder: list, show, search, and what the search cannot find",
}
"""First words of a command line that are not a message but a program of their own, with a line on each."""


def subcommand_list() -> str:
    """The subcommands as the help shows them."""
    width = max(map(len, SUBCOMMANDS))
    lines = (f"  {name:{width}}  {about}" for name, about in SUBCOMMANDS.items())
    return "\n".join(("subcommands (`mcode WORD --help` says more):", *lines))


def nearest_option(message: str, options: Iterable[str]) -> str:
    """What a complaint of argparse's about unknown arguments is to say of the nearest option; empty for others."""
    _, found, words = message.partition("unrecognized arguments: ")
    wrong = next((word.split("=")[0] for word in words.split() if word.startswith("--")), "")
    if not found or not wrong:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(wrong, list(options), 1, 0.7)
    return f" Did you mean {near[0]}?" if near else ""
