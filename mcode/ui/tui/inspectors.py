"""Which commands have an inspector of their own; every other answer is shown as text."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mcode.commands.tables import tokens
from mcode.ui.calls import duration_text
from mcode.ui.tui.call_rows import size_text
from mcode.ui.tui.inspector import TextInspector
from mcode.ui.tui.session_picker import SessionPicker
from mcode.ui.tui.table_inspector import TableInspector
from mcode.ui.tui.table_spec import RowKey, TableSpec, rows_of
from mcode.ui.tui.table_view import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.commands.registry import CommandResult
    from mcode.jsontext import JsonObject
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.inspector import InspectorScreen


def special_inspector(name: str, front: McodeApp, result: CommandResult) -> InspectorScreen | None:
    """The inspector made for a command's data; None where there is none or the data are of another kind."""
    command = front.registry.meant(name)
    name = command.name if command is not None else name
    facts = result.facts
    rows = rows_of(facts)
    data: JsonObject = cast("JsonObject", facts) if isinstance(facts, dict) else {}
    match name:
        case "tools" if rows and "state" in rows[0]:
            return TableInspector(front, TOOLS, rows, result.foot)
        case "permissions" if "rules" in data:
            about = "\n".join((f"Permission mode: {data['mode']}", *_said_of_rules(data)))
            return TableInspector(front, PERMISSIONS, rows_of(data, PERMISSIONS.member), about)
        case "mcp" if rows and "state" in rows[0]:
            return TableInspector(front, MCP, rows)
        case "programs" if data.get("programs"):
            return TableInspector(front, PROGRAMS, rows_of(data, PROGRAMS.member), _last_line(result.text))
        case "hooks" if data.get("hooks"):
            return TableInspector(front, HOOKS, rows_of(data, HOOKS.member))
        case "resume" if any(not row.get("current") for row in rows):
            return SessionPicker(front, RESUME, [row for row in rows if not row.get("current")])
        case "rewind" if rows and "turn" in rows[0]:
            return TableInspector(front, REWIND, rows[::-1], _last_line(result.text))
        case "model" if data.get("offered"):
            now = front.agent.model
            names = [*([] if now in data["offered"] else [now]), *data["offered"]]
            return TableInspector(
                front, MODEL, [{"model": each, "current": each == now} for each in names if each]
            )
        case "theme" if rows:
            return TableInspector(front, THEME, rows)
        case "diff" if rows:
            return TextInspector(front, "/diff", result.text, style=_change_style)
        case "help" if rows and "summary" in rows[0]:
            return TableInspector(front, HELP, rows)
        case _:
            return None


def _said_of_rules(data: JsonObject) -> Iterator[str]:
    """What holds where there are no rules, and what is wrong with those that there are."""
    if data.get("without_rules"):
        yield str(data["without_rules"])
    yield from map(str, data.get("problems") or ())


def _change_style(line: str) -> str:
    """The style of a line of changes; the signs in front say the same."""
    if line.startswith(("--- ", "+++ ")):
        return "strong"
    return {"+": "added", "-": "removed", "@": "dim"}.get(line[:1], "")


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1].strip()


def _cost(row: JsonObject) -> str:
    """A cost in brackets is what loading the tool would add."""
    if row.get("state") == "BLOCKED":
        return "0"
    cost = tokens(int(row["tokens"]))
    return cost if row.get("in_request") else f"({cost})"


def _fit(row: JsonObject) -> str:
    """How well a tool fits what was searched for, beside the one that fits best."""
    return "named" if row.get("share") is None else f"{100 * float(row['share']):.0f}%"


def _would(loads: Any) -> str:
    return "would load it" if loads else "would name it"


def _last_used(row: JsonObject) -> str:
    return f"turn {row['last_turn']}" if row.get("calls") else "never"


def _day(value: Any) -> str:
    return datetime.fromtimestamp(float(value)).astimezone().strftime("%Y-%m-%d %H:%M")


def _now(current: Any) -> str:
    return "now" if current else ""


def _from_home(path: Any) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if str(path).startswith(f"{home}/") else str(path)


def _or_never(outcome: Any) -> str:
    return str(outcome) or "never ran"


def _trouble(row: JsonObject) -> str:
    return "bad" if str(row.get("last_outcome", "")).startswith("FAIL") else ""


def _whole(row: JsonObject) -> str:
    del row
    return ""


def _command(row: JsonObject) -> str:
    head = f"/{row['name']} {row['usage']}".rstrip()
    return f"{head}: {row['summary']}"


TOOLS = TableSpec(
    "/tools",
    (
        Column("state", "state", worth=6),
        Column("name", "tool", width=44, least=24),
        Column("source", "source", width=16, least=6, worth=3),
        Column("tokens", "tokens", of_row=_cost, right=True, worth=7),
        Column("permission", "permission", worth=5),
        Column("calls", "calls", right=True, worth=4),
        Column("last_turn", "last used", of_row=_last_used, worth=2),
    ),
    subtitle="what the model sees, and what it costs",
    state="state",
    box="Search as the model would  (runs the real tool_search; loads nothing)",
    box_command="/tools search",
    hits=(
        Column("rank", "", right=True),
        Column("name", "tool", least=30),
        Column("share", "match", of_row=_fit, right=True),
        Column("tokens", "tokens", lambda value: tokens(int(value)), right=True, worth=2),
        Column("would_load", "by the model", _would, worth=5),
    ),
    keys={
        "enter": RowKey("details", lambda row: f"/tools why {row['name']}"),
        "w": RowKey("why", lambda row: f"/tools why {row['name']}"),
        "l": RowKey("load now", lambda row: f"/tools load {row['name']}", changes=True),
        "p": RowKey("permission", lambda row: f"/tools permission {row['name']}"),
        "i": RowKey("pin", lambda row: f"/tools pin {row['name']}", changes=True),
        "h": RowKey("hide", lambda row: f"/tools hide {row['name']}", changes=True),
    },
)

PERMISSIONS = TableSpec(
    "/permissions",
    (
        Column("behavior", "says"),
        Column("rule", "rule", width=50, least=16),
        Column("scope", "scope", worth=3),
        Column("path", "file", _from_home, end=True, width=60, least=16, worth=4),
        Column("line", "line", right=True, worth=2),
    ),
    subtitle="rules, the strongest first",
    member="rules",
    state="behavior",
    box="Test a call, such as Bash(git push) or Read(notes.txt)",
    box_command="/permissions explain",
    keys={
        "enter": RowKey("details", _whole),
        "r": RowKey(
            "remove",
            lambda row: f"/permissions remove {row['behavior']} {row['rule']}",
            changes=True,
            sure=lambda row: f"{row['behavior']} {row['rule']} goes out of force, here and in its file.",
        ),
    },
)

MCP = TableSpec(
    "/mcp",
    (
        Column("name", "server", width=30, least=12),
        Column("state", "state"),
        Column("transport", "by", worth=1),
        Column("resident", "resident", right=True, worth=4),
        Column("deferred", "deferred", right=True, worth=3),
        Column("tokens", "tokens", lambda value: tokens(int(value)), right=True, worth=2),
        Column("error", "last error", width=60, least=14),
    ),
    subtitle="servers that bring tools",
    state="state",
    keys={
        "enter": RowKey("details", lambda row: f"/mcp {row['name']}"),
        "r": RowKey("reconnect", lambda row: f"/mcp reconnect {row['name']}", changes=True),
        "x": RowKey("stop", lambda row: f"/mcp stop {row['name']}", changes=True),
        "a": RowKey("approve", lambda row: f"/mcp approve {row['name']}", changes=True),
        "i": RowKey("sign in", lambda row: f"/mcp sign-in {row['name']}", changes=True),
        "l": RowKey("log", lambda row: f"/mcp log {row['name']}"),
    },
)

PROGRAMS = TableSpec(
    "/programs",
    (
        Column("number", "#", right=True),
        Column("title", "program", width=50, least=20),
        Column("status", "ended", lambda value: str(value).replace("_", " "), width=24),
        Column("calls", "calls", right=True, worth=4),
        Column("wall_ms", "time", lambda value: duration_text(float(value) / 1000), right=True, worth=2),
        Column("kept_out", "kept out", lambda value: size_text(int(value)), right=True, worth=3),
    ),
    subtitle="what the model's programs did, and what they kept out of the context",
    member="programs",
    state="status",
    keys={
        "enter": RowKey("look into", lambda row: f"/programs {row['number']}"),
        "e": RowKey(
            "export as JSON", lambda row: f"/programs export {row['number']} program-{row['number']}.json"
        ),
    },
)

HOOKS = TableSpec(
    "/hooks",
    (
        Column("event", "event"),
        Column("matcher", "matcher", worth=4),
        Column("command", "command", width=60, least=24),
        Column("last_outcome", "last run", _or_never, style=_trouble, worth=8),
        Column("last_run", "at", worth=5),
        Column("last_took", "s", right=True, worth=2),
        Column("last_effect", "effect", width=40, least=24, worth=6),
        Column("onFailure", "on failure", worth=3),
        Column("scope", "scope", worth=3),
        Column("unsupported", "not run because", width=60, least=10, worth=1),
    ),
    subtitle="what runs before and after calls",
    member="hooks",
    state="event",
    keys={"enter": RowKey("details", _whole)},
)

RESUME = TableSpec(
    "/resume",
    (
        Column("id", "id", lambda value: str(value)[:8], worth=2),
        Column("name", "name", width=24, least=8, worth=4),
        Column("first_prompt", "first message", width=60, least=16),
        Column("messages", "messages", right=True, worth=3),
        Column("modified", "last used", _day),
    ),
    subtitle="sessions of this folder, newest first",
    keys={"enter": RowKey("resume", lambda row: f"/resume {row['id']}", leaves=True)},
)


def _rewind_key(label: str, how: str, told: str) -> RowKey:
    """A way back to the message of a row; `told`, with its number, is what the user confirms."""
    return RowKey(
        label,
        lambda row: f"/rewind {row['turn']} {how}",
        leaves=True,
        sure=lambda row: told.format(row["turn"]),
    )


REWIND = TableSpec(
    "/rewind",
    (
        Column("turn", "message", right=True),
        Column("text", "text", width=70, least=16),
        Column("files_changed_since", "files changed", right=True, worth=3),
    ),
    subtitle="back to the moment before a message, or a summary of one side of it",
    keys={
        "enter": _rewind_key(
            "both", "both", "Conversation and files go back to the moment before message {}."
        ),
        "b": _rewind_key(
            "conversation only",
            "conversation",
            "The conversation goes back to the moment before message {}; files stay.",
        ),
        "o": _rewind_key(
            "files only", "files", "Files go back to the moment before message {}; the conversation stays."
        ),
        "m": _rewind_key(
            "summarise from here",
            "summarise-from",
            "The model's summary takes the place of message {} and what followed; files stay.",
        ),
        "u": _rewind_key(
            "summarise up to here",
            "summarise-up-to",
            "The model's summary takes the place of what came before message {}; files stay.",
        ),
    },
)

MODEL = TableSpec(
    "/model",
    (Column("model", "model", width=80, least=20), Column("current", "", _now)),
    subtitle="what the endpoint offers; /model NAME takes any other",
    keys={"enter": RowKey("use", lambda row: f"/model {row['model']}", leaves=True)},
)

THEME = TableSpec(
    "/theme",
    (Column("theme", "theme"), Column("current", "", _now)),
    subtitle="the colours of the screen; the ansi ones are your terminal's own",
    keys={"enter": RowKey("use", lambda row: f"/theme {row['theme']}", leaves=True)},
)

HELP = TableSpec(
    "/help",
    (
        Column("name", "command", lambda value: f"/{value}"),
        Column("usage", "with", width=22, least=14, worth=3),
        Column("summary", "what it does", width=80, least=36),
    ),
    subtitle="commands; F1 lists the keys",
    about=_command,
    keys={"enter": RowKey("more", lambda row: f"/help {row['name']}")},
)
