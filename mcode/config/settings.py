"""The settings of one start as plain values: what is in force, where it came from, what is wrong with it.

The large classes have no `==` and no `repr`: each costs time at every start, and nobody needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.config.ui_settings import UiSettings
from mcode.jsontext import JsonValue

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.config.trust import Item
    from mcode.jsontext import JsonObject


@dataclass(frozen=True, slots=True)
class Source:
    """Where a setting stands."""

    scope: str
    """`managed`, `flag`, `local`, `project`, `user`, `session` or `cli`; the strongest first."""
    path: Path | None
    """The file; None for what was given on the command line or in the session."""
    base: Path
    """Where a rule's path that begins with `/` is anchored."""
    trusted: bool
    """True where the source may grant something. An untrusted one only restricts."""

    @property
    def name(self) -> str:
        """The source for people: its file, or what it was given by."""
        if self.path is not None:
            return str(self.path)
        return {"flag": "--settings", "cli": "the command line"}.get(self.scope, f"the {self.scope}")


@dataclass(frozen=True, slots=True)
class RuleText:
    """A permission rule as it is written; `permissions/rules.py` reads it."""

    text: str
    behavior: str
    """`allow`, `ask` or `deny`."""
    source: Source
    line: int | None = None
    """Line in the file, from 1; None where there is no file."""


@dataclass(frozen=True, slots=True)
class HookHandler:
    """One command of the user's that runs at an event."""

    event: str
    matcher: str
    """What the event must be about; empty means everything."""
    command: str
    args: tuple[str, ...] | None
    """Given: `command` is a program that is run with these. None: a shell runs `command`."""
    timeout: float | None
    """Seconds; None means the event's usual limit."""
    condition: str | None
    """A permission rule (`if`) that the call must match."""
    run_async: bool
    """Runs in the background and decides nothing."""
    on_failure: str
    """`continue`, or `block`: a hook that cannot do its work counts as a refusal."""
    status_message: str
    """Shown while it runs, in place of its command; empty for none."""
    once: bool
    source: Source
    unsupported: str | None
    """Why this one is never run; None for one that runs."""
    shell: str | None = None
    """The shell that was asked for; None means bash."""
    rewakes: bool = False
    """Runs in the background, and its exit code 2 gives the model a message."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a file of settings that the user should know."""

    path: Path | None
    """The file; None for `--settings` with JSON and for what concerns several files."""
    key: str
    """Path of the key, such as `permissions.allow[2]`; empty where the whole file is meant."""
    text: str
    """What is wrong and what became of the value."""
    severity: str
    """`error`: a protection or a whole file is lost; `warning`: shown at start; `info`: in /status only."""
    line: int | None = None
    """Line in the file, from 1."""

    @property
    def message(self) -> str:
        """Everything in one line: file, line, key, text."""
        return ": ".join(part for part in (self.subject, self.text) if part)

    @property
    def subject(self) -> str:
        """What it is about: file, line and key, as far as each is known."""
        place = str(self.path) if self.path is not None else ""
        if self.line is not None and place:
            place += f", line {self.line}"
        return ": ".join(part for part in (place, self.key) if part)


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs, in US dollars per million tokens. Cache prices not given count as the input's."""

    input: float
    output: float
    cache_read: float
    cache_write: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OwnSettings:
    """The object `mcode` of the settings: what other agents do not know."""

    base_url: str | None = None
    """The Messages endpoint. Never from a project."""
    header_style: str | None = None
    """How the key is sent: `bearer`, `x-api-key` or `both`; None means as the endpoint's profile says."""
    api_version: str | None = None
    extra_body: JsonObject = field(default_factory=dict[str, JsonValue])
    """Members that are added to each request as they are."""
    max_tokens: int | None = None
    """Output tokens of one answer at most."""
    window: int | None = None
    """Tokens of the model's window; None means ask the cached model list."""
    prices: Mapping[str, Prices] = field(default_factory=dict[str, Prices])
    """By model name."""
    sync: str = "full"
    """`full`, or `relaxed`: the journal is written in order but not forced to the disk."""
    pass_environment: tuple[str, ...] = ()
    """Names of variables that commands which were asked about may see as well."""
    undo_required: bool = True
    """Refuse an edit whose old content cannot be kept."""
    ui: UiSettings = field(default_factory=UiSettings)
    max_calls_per_turn: int = 200
    """Calls that the model may make before the user is asked to go on; 0 means no limit."""
    sandbox: bool = False
    """Commands of the model run in a sandbox. A project may only switch it on."""
    sandbox_network: bool = False
    """Commands in the sandbox reach the network."""
    sandbox_auto_allow: bool = False
    """What runs in the sandbox needs no approval, where its words and paths raise no question."""
    tool_search: JsonValue = None
    placement: JsonObject = field(default_factory=dict[str, JsonValue])
    programs: JsonValue = None
    run_code: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Settings:
    """What is in force, merged from all sources."""

    rules: tuple[RuleText, ...] = ()
    """The strongest source first; within a file deny, ask, allow, each in the file's order."""
    default_mode: str | None = None
    disable_bypass: bool = False
    additional_directories: tuple[Path, ...] = ()
    """Absolute and resolved; each existed when the settings were read."""
    deny_instead_of_prompting: bool = False
    block_reads_outside: bool = False
    block_writes_outside: bool = False
    hooks: tuple[HookHandler, ...] = ()
    """The strongest source first; identical ones once."""
    disable_all_hooks: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """For child processes. Nothing in it moves mcode's own directories."""
    own_env: Mapping[str, str] = field(default_factory=dict[str, str])
    """The part of `env` from the user's, managed and `--settings` files: may name keys and endpoints."""
    model: str | None = None
    api_key_helper: str | None = None
    """A shell command that prints the key. Never from a project."""
    api_key_helper_source: Source | None = None
    claude_md_excludes: tuple[str, ...] = ()
    cleanup_period_days: int = 30
    respond_to_bash_commands: bool = True
    bash_output_max_chars: int = 30_000
    output_style: str | None = None
    status_line: str | None = None
    """The command whose output is shown beneath the prompt."""
    enable_all_project_mcp_servers: bool = False
    enabled_mcpjson_servers: tuple[str, ...] = ()
    disabled_mcpjson_servers: tuple[str, ...] = ()
    disable_skill_shell_execution: bool = False
    skill_listing_max_desc_chars: int | None = None
    skill_listing_budget_fraction: float | None = None
    own: OwnSettings = field(default_factory=OwnSettings)
    problems: tuple[Problem, ...] = ()
    sources: tuple[Source, ...] = ()
    """The sources that were found and could be read, the strongest first."""
    granted: tuple[Item, ...] = ()
    """What counts of the folder's own files because the user approved it."""
    withheld: tuple[Item, ...] = ()
    """What does not count of them: the user was not asked yet, or refused."""
    untrusted: str = ""
    """The same in a sentence; empty where nothing is withheld."""
