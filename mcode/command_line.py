"""The options of the command line: what they are called, and which do not go together."""

from __future__ import annotations

import argparse
import os
import uuid
from typing import NoReturn

from mcode import __version__
from mcode.errors import UsageError
from mcode.subcommands import nearest_option, subcommand_list
from mcode.wiring.options import Options

SOURCES = frozenset({"user", "project", "local"})

BARE_TOOLS = frozenset({"bash", "read", "edit", "write", "glob", "grep"})
"""What `--bare` leaves of mcode's own tools, where `--tools` does not say otherwise."""

DEMO = ("demo", "tour", "demo_latency", "demo_fail_every")
"""Options of which each opens the offline guide with its demo."""

EPILOG = f"""\
{subcommand_list()}

In a session: /help lists the commands, @ completes file names, ! runs a shell command of yours.
Without a key mcode offers to take one, or an offline guide (--demo); set ANTHROPIC_API_KEY, or
ANTHROPIC_BASE_URL (--base-url) for any endpoint of the Messages protocol, and name a model with --model
or ANTHROPIC_MODEL.
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line and leaves with exit code 2."""

    def error(self, message: str) -> NoReturn:  # pyright: ignore[reportImplicitOverride] -- `override` is slow to import
        near = nearest_option(message, self._option_string_actions)
        raise UsageError(f"{message}.{near} Nothing was started; `mcode --help` lists the options.")


def parse(arguments: list[str]) -> Options:
    """Read the command line; raises UsageError."""
    given = _parser().parse_args(arguments)
    words = list(given.prompt)
    prompt = " ".join(words) if words else None
    sources = frozenset(part.strip() for part in given.setting_sources.split(",") if part.strip())
    if not sources <= SOURCES:
        wrong = ", ".join(sorted(sources - SOURCES))
        raise UsageError(
            f"--setting-sources knows user, project and local, not {wrong}. Nothing was started."
        )
    _check_together(given)
    prompt_tool: str | None = given.permission_prompt_tool
    return Options(
        prompt=prompt,
        print=given.print,
        plain=given.plain or os.environ.get("MCODE_PLAIN") == "1",
        no_decoration=given.no_decoration,
        demo=any(getattr(given, name) for name in DEMO),
        tour=given.tour,
        demo_latency=given.demo_latency,
        demo_fail_every=given.demo_fail_every,
        output_format=given.output_format,
        input_format=given.input_format,
        partial_messages=given.include_partial_messages,
        max_turns=given.max_turns,
        model=given.model,
        base_url=given.base_url,
        allowed=(*(given.allowed_tools or ()), *([prompt_tool] if prompt_tool else [])),
        disallowed=tuple(given.disallowed_tools or ()),
        mode=given.permission_mode,
        skip_permissions=given.dangerously_skip_permissions,
        sandbox=given.sandbox,
        settings=given.settings,
        setting_sources=frozenset() if given.bare else sources,
        mcp_configs=tuple(given.mcp_config or ()),
        strict_mcp=given.strict_mcp_config or given.bare,
        trust=given.trust,
        system_prompt=given.system_prompt,
        append_system_prompt=given.append_system_prompt,
        continue_latest=given.continue_latest,
        resume=given.resume,
        fork=given.fork_session,
        session_id=given.session_id,
        debug=given.debug,
        agents=given.agents,
        add_dirs=tuple(_directory(each) for each in given.add_dir or ()),
        tools=BARE_TOOLS if given.bare and given.tools is None else _tools(given.tools),
        ask_nobody=given.permission_prompts is not None,
        prompt_tool=prompt_tool,
        bare=given.bare,
        max_budget=given.max_budget_usd,
        json_schema=given.json_schema,
        kept=not given.no_session_persistence,
    )


def _check_together(given: argparse.Namespace) -> None:
    """Raises UsageError where options do not go together, or have no sense."""
    if given.reset_terminal:
        raise UsageError(
            "--reset-terminal stands alone: it puts the terminal in order and ends. Nothing was started."
        )
    demo = next((name for name in DEMO if getattr(given, name)), "")
    if demo and given.base_url is not None:
        raise UsageError(
            f"--base-url does not go with --{demo.replace('_', '-')}: the offline guide answers, and no endpoint "
            "is asked. Nothing was started."
        )
    if given.session_id is not None:
        _check_session_id(given.session_id)
    if given.input_format == "stream-json" and not given.print:
        raise UsageError("--input-format stream-json goes with -p. Nothing was started.")
    if given.input_format == "stream-json" and given.prompt:
        raise UsageError(
            f"--input-format stream-json reads messages from standard input, and `{' '.join(given.prompt)[:60]}` "
            "stands on the command line: give one of them. Nothing was started."
        )
    if given.no_session_persistence and not given.print:
        raise UsageError("--no-session-persistence goes with -p. Nothing was started.")
    if given.no_session_persistence and (given.continue_latest or given.resume is not None):
        raise UsageError(
            "--no-session-persistence begins a session of its own that is not kept; it does not go with --continue "
            "and --resume. Nothing was started."
        )
    if given.permission_prompt_tool and not given.print:
        raise UsageError(
            "--permission-prompt-tool goes with -p: in a session you are asked yourself. Nothing was started."
        )
    if given.permission_prompt_tool and given.permission_prompts:
        raise UsageError(
            "--permission-prompts none has nobody asked, and --permission-prompt-tool has a tool asked: give one of "
            "them. Nothing was started."
        )
    if given.max_budget_usd is not None and not given.max_budget_usd > 0:
        raise UsageError(
            f"--max-budget-usd takes dollars above 0, not {given.max_budget_usd:g}. Nothing was started."
        )
    if given.max_turns is not None and given.max_turns < 1:
        raise UsageError(f"--max-turns takes a number from 1, not {given.max_turns}. Nothing was started.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="mcode",
        description="A coding agent in your terminal. Run it in a project directory.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("prompt", nargs="*", help="the first message")
    add("-V", "--version", action="version", version=f"mcode {__version__}")
    add("-p", "--print", action="store_true", help="answer once on standard output and end; nobody is asked")
    add("--plain", action="store_true", help="line by line in the terminal's own scrollback")
    add("--no-decoration", action="store_true", help="plain lines with a word in front, for screen readers")
    add("--demo", action="store_true", help="the offline guide: a script, no model, nothing is sent")
    add("--tour", action="store_true", help="the guide's demo plays by itself, also with -p")
    add(
        "--demo-latency",
        type=float,
        default=0.0,
        metavar="MS",
        help="each call of the demo's server takes so long",
    )
    add(
        "--demo-fail-every", type=int, default=0, metavar="N", help="each Nth call of the demo's server fails"
    )
    add(
        "--reset-terminal",
        action="store_true",
        help="put the terminal back in order after a killed mcode, and end (give no other option with it)",
    )
    add(
        "--bare",
        action="store_true",
        help="read no settings, instructions, skills, agents or servers but given ones",
    )
    add("--debug", action="store_true", help="write a detailed log to the state directory")
    _add_session_options(parser)
    _add_model_options(parser)
    _add_permission_options(parser)
    _add_server_options(parser)
    _add_headless_options(parser)
    return parser


def _add_session_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("session").add_argument
    add(
        "-c",
        "--continue",
        dest="continue_latest",
        action="store_true",
        help="go on with the latest session here",
    )
    add(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="resume a session by id or name; lists them without",
    )
    add("--fork-session", action="store_true", help="resume a copy under a new id")
    add("--session-id", metavar="UUID", help="id of the new session")


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("model").add_argument
    add("--model", metavar="NAME", help="the model to ask")
    add("--base-url", metavar="URL", help="any endpoint of the Messages protocol")
    add("--system-prompt", metavar="TEXT", help="replaces mcode's own system prompt")
    add("--tools", metavar="NAMES", help='only these of mcode\'s own tools; "" for none, `default` for all')
    add("--agents", metavar="JSON", help="kinds of sub-agents, by name, for this run")
    add("--append-system-prompt", metavar="TEXT", default="", help="stands behind the system prompt")


def _add_permission_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("permissions and settings").add_argument
    add("--permission-mode", metavar="MODE", help="default, acceptEdits, plan, dontAsk or bypassPermissions")
    add("--dangerously-skip-permissions", action="store_true", help="start in bypassPermissions")
    add(
        "--allowedTools",
        "--allowed-tools",
        dest="allowed_tools",
        nargs="+",
        metavar="RULE",
        help="allow rules",
    )
    add(
        "--disallowedTools",
        "--disallowed-tools",
        dest="disallowed_tools",
        nargs="+",
        metavar="RULE",
        help="deny rules",
    )
    add("--permission-prompts", choices=("none",), help="what would ask is denied, as with -p")
    add("--sandbox", action="store_true", help="commands write in the workspace only, and reach no network")
    add("--add-dir", nargs="+", metavar="PATH", help="further working directories, for this run")
    add("--settings", metavar="FILE", help="a settings file, or JSON text, for this run")
    add(
        "--setting-sources",
        metavar="LIST",
        default="user,project,local",
        help="which settings files are read",
    )


def _add_server_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("servers of tools (MCP), and trust").add_argument
    add(
        "--mcp-config",
        action="append",
        metavar="FILE",
        help="a file or JSON text with servers, for this run; several times",
    )
    add("--strict-mcp-config", action="store_true", help="only the servers of --mcp-config")
    add("--trust", action="store_true", help="servers and settings of this folder count, for this run only")


def _add_headless_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("with -p").add_argument
    add("--output-format", choices=("text", "json", "stream-json"), default="text")
    add("--input-format", choices=("text", "stream-json"), default="text")
    add("--include-partial-messages", action="store_true", help="stream-json: raw events of the model too")
    add("--permission-prompt-tool", metavar="TOOL", help="a server's tool that answers in the user's place")
    add("--max-turns", type=int, metavar="N", help="requests that the run may take")
    add("--max-budget-usd", type=float, metavar="N", help="ends before more is spent; needs mcode.prices")
    add(
        "--no-session-persistence", action="store_true", help="the session is not kept, and cannot be resumed"
    )
    add("--json-schema", metavar="JSON", help="the answer in this shape, as structured_output")
    add("--verbose", action="store_true", help="accepted for scripts written for other agents")


def _directory(given: str) -> str:
    path = os.path.realpath(os.path.expanduser(given))  # noqa: PTH111 -- Path raises on `~nobody`
    if not os.path.isdir(path):  # noqa: PTH112 -- it never raises
        raise UsageError(f"--add-dir: {given} is no directory that is there. Nothing was started.")
    return path


def _tools(given: str | None) -> frozenset[str] | None:
    """Names between commas or blanks; None for all of them."""
    if given is None or given.strip().lower() == "default":
        return None
    from mcode.permissions.names import canonical_name

    return frozenset(canonical_name(name).lower() for name in given.replace(",", " ").split())


def _check_session_id(text: str) -> None:
    try:
        uuid.UUID(text)
    except ValueError:
        raise UsageError(f"--session-id takes a UUID, not {text!r}. Nothing was started.") from None
