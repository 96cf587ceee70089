"""Names of tools in rules: canonical spellings, aliases, globs, and which tools a name speaks for."""

from __future__ import annotations

import re

from mcode.permissions.wildcard import Wildcard

ARGUMENTS: dict[str, frozenset[str]] = {
    "Bash": frozenset({"description", "timeout", "run_in_background"}),
    "Read": frozenset({"offset", "limit"}),
    "Edit": frozenset({"replace_all"}),
    "Write": frozenset(),
    "NotebookEdit": frozenset({"cell_id", "cell_type", "edit_mode"}),
    "MemoryNote": frozenset({"scope"}),
    "Glob": frozenset(),
    "Grep": frozenset({"glob", "output_mode", "-i", "multiline", "type"}),
    "WebFetch": frozenset({"prompt"}),
    "WebSearch": frozenset(),
    "Agent": frozenset({"description", "subagent_type", "model", "run_in_background"}),
    "Skill": frozenset({"args"}),
    "TodoWrite": frozenset(),
    "TaskCreate": frozenset(),
    "TaskUpdate": frozenset(),
    "TaskList": frozenset(),
    "TaskOutput": frozenset({"block", "timeout"}),
    "TaskStop": frozenset(),
    "AskUserQuestion": frozenset(),
    "ExitPlanMode": frozenset(),
    "ListMcpResourcesTool": frozenset({"server"}),
    "ReadMcpResourceTool": frozenset({"server"}),
    "tool_search": frozenset({"limit"}),
    "call_tool": frozenset(),
    "run_code": frozenset({"timeout"}),
}
"""The tools that rules know by name, and the arguments that `Tool(argument:value)` may test."""

CONTENT: dict[str, frozenset[str]] = {
    "Bash": frozenset({"command"}),
    "Read": frozenset({"file_path"}),
    "Edit": frozenset({"file_path", "old_string", "new_string"}),
    "Write": frozenset({"file_path", "content"}),
    "NotebookEdit": frozenset({"notebook_path", "new_source"}),
    "Glob": frozenset({"path", "pattern"}),
    "Grep": frozenset({"path", "pattern"}),
    "WebFetch": frozenset({"url"}),
    "WebSearch": frozenset({"query"}),
    "Agent": frozenset({"prompt"}),
    "Skill": frozenset({"skill"}),
    "run_code": frozenset({"code"}),
}
"""What a call is about: tested by the tool's own kind of rule, never by `Tool(argument:value)`."""

EDITING = frozenset({"Edit", "Write", "NotebookEdit", "MemoryNote"})
READING = frozenset({"Read", "Grep", "Glob"})
FAMILIES: dict[str, frozenset[str]] = {"Edit": EDITING, "Read": READING}
"""A rule about `Edit` or `Read` speaks for all tools of the kind."""

_CANONICAL = {name.casefold(): name for name in ARGUMENTS} | {"task": "Agent", "toolsearch": "tool_search"}
_SERVER_PREFIX = re.compile(r"mcp__[^*]+?__")
_FOREIGN_SERVER_NAME = re.compile(r"mcp_(?!_)([A-Za-z0-9-]+)_(.+)")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def canonical_name(name: str) -> str:
    """The spelling that mcode uses; a name it does not know stays as it is."""
    return _CANONICAL.get(name.casefold(), name)


def is_known(name: str) -> bool:
    return name in ARGUMENTS


def has_server_prefix(name: str) -> bool:
    """True where a literal `mcp__server__` stands in front of the first `*`."""
    return _SERVER_PREFIX.match(name) is not None


def speaks_for(rule_name: str, tool: str, source: str | None, *, wide: bool) -> bool:
    """True where a rule about `rule_name` is about `tool`.

    `source` is the tool's MCP server (`core` for built-ins, None where it is not known). `wide` is for deny
    and ask rules: a bare server name then covers every name that begins with it.
    """
    if rule_name == tool or tool in FAMILIES.get(rule_name, ()):
        return True
    if "*" in rule_name:
        return Wildcard(rule_name).matches(tool)
    if not rule_name.startswith("mcp__") or not tool.startswith(rule_name + "__"):
        return False
    if wide or source is None:
        return True
    mapped = _NOT_IN_NAMES.sub("_", source)
    return rule_name[5:] in (mapped, mapped.replace("-", "_"))


def spelling_hint(name: str) -> str:
    """A sentence on how a name of another agent's style is written here; empty where it looks right."""
    foreign = _FOREIGN_SERVER_NAME.fullmatch(name)
    if foreign is not None:
        return f"Tools of MCP servers are written mcp__server__tool: mcp__{foreign[1]}__{foreign[2]}?"
    if "_" in name and "*" not in name and not name.startswith("mcp__") and not is_known(name):
        return "Tools of MCP servers are written mcp__server__tool."
    return ""


def nearest_known(name: str) -> str | None:
    """The known tool whose name is most like `name`."""
    import difflib  # needed for a warning only

    found = difflib.get_close_matches(name.casefold(), _CANONICAL, n=1, cutoff=0.7)
    return _CANONICAL[found[0]] if found else None
