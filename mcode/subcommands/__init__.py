"""What `mcode WORD ...` does without opening a session: one module a word, with `main(arguments) -> int`."""

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
