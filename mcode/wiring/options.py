"""What the command line asks for, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """One start of mcode."""

    prompt: str | None = None
    """The message on the command line; the first one of an interactive session, the only one with `print`."""
    print: bool = False
    """Headless: one answer on standard output, nobody to ask."""
    plain: bool = False
    no_decoration: bool = False
    demo: bool = False
    tour: bool = False
    """The demo plays by itself."""
    demo_latency: float = 0.0
    """Milliseconds that each call of the demo's server takes."""
    demo_fail_every: int = 0
    """Each call of this number fails in the demo's server; 0 for none."""
    output_format: str = "text"
    """`text`, `json` or `stream-json`."""
    input_format: str = "text"
    """`text` or `stream-json`."""
    partial_messages: bool = False
    max_turns: int | None = None
    """Requests that one message may take; None for no limit."""
    model: str | None = None
    base_url: str | None = None
    allowed: tuple[str, ...] = ()
    """Rules of `--allowedTools`, not yet split."""
    disallowed: tuple[str, ...] = ()
    mode: str | None = None
    skip_permissions: bool = False
    ask_nobody: bool = False
    """What a user would be asked before it may run is denied instead."""
    prompt_tool: str | None = None
    """A server's tool that answers what a user would be asked."""
    bare: bool = False
    """Nothing is read but what the command line names: no settings, instructions, skills, agents or servers."""
    sandbox: bool = False
    """Commands of the model run in a sandbox, or mcode does not start."""
    settings: str | None = None
    """A file or JSON text."""
    setting_sources: frozenset[str] = frozenset({"user", "project", "local"})
    mcp_configs: tuple[str, ...] = ()
    """Files or JSON texts that name servers for this run."""
    strict_mcp: bool = False
    """No other servers than those of `mcp_configs`."""
    trust: bool = False
    """What the folder's files bring counts for this run: its servers and its settings. Nothing of that is stored."""
    system_prompt: str | None = None
    append_system_prompt: str = ""
    continue_latest: bool = False
    resume: str | None = None
    """Id, beginning of an id, or name; empty text for a choice from the list."""
    fork: bool = False
    session_id: str | None = None
    debug: bool = False
    add_dirs: tuple[str, ...] = ()
    """Further working directories, absolute."""
    tools: frozenset[str] | None = None
    """Names of mcode's own tools that there are, in small letters; None for all."""
    max_budget: float | None = None
    """US dollars that the run may cost."""
    json_schema: str | None = None
    """JSON text: the shape of a headless answer."""
    kept: bool = True
    """False: nothing of the session stays when it ends."""
    agents: str | None = None
    """JSON text that defines kinds of sub-agents."""

    def has_tool(self, name: str) -> bool:
        """Whether a tool of mcode's own is there."""
        return self.tools is None or name.lower() in self.tools
