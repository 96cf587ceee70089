"""The blocks of a transcript: what was said, called and remarked, as values without any look."""

from __future__ import annotations

import re
from bisect import insort
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.call import Origin, Status
from mcode.text import Kind, clean
from mcode.ui.output import cut_note, exit_code, printed_text, without_ending, works_on
from mcode.ui.tui.markdown_stream import MarkdownStream

if TYPE_CHECKING:
    from mcode.call import Call, Outcome
    from mcode.jsontext import JsonObject
    from mcode.tool import Preview

_JOB = re.compile(r"background job (b\d+)")
"""How the summary of a call begins that started one; after a resume there is nothing else."""

KEPT_OUTPUT = 400_000
"""Characters at the end of a call's output that its card keeps; the session file has what the model got."""


class Fold(Enum):
    """How much of a block is shown."""

    AUTO = "auto"
    """What a reader wants unasked: the end of an output, the first rows of a change."""
    FOLDED = "folded"
    OPEN = "open"


@dataclass(slots=True, eq=False)
class Block:
    """One part of the transcript. `Document` alone changes it, and raises `revision` each time."""

    number: int
    """Its place in the transcript, from 0; never changes."""
    revision: int = 0
    fold: Fold = Fold.AUTO
    lines: int = 1
    """Lines of its source, for an estimate of its height."""
    cells: int = 0
    """Characters of its source, likewise."""
    undone: bool = False
    """True where the conversation went back to before it."""

    @property
    def family(self) -> str:
        """Which blocks stand without an empty row between them: those of one family that is not empty."""
        return ""

    def whole_text(self) -> str:
        """All that the block holds, clean."""
        return ""

    def _measure(self, text: str) -> None:
        self.lines = text.count("\n") + 1
        self.cells = len(text)


@dataclass(slots=True, eq=False)
class UserBlock(Block):
    """A message of the user's."""

    text: str = ""

    def __post_init__(self) -> None:
        self._measure(self.text)

    @override
    def whole_text(self) -> str:
        return clean(self.text)


@dataclass(slots=True, eq=False)
class AnswerBlock(Block):
    """Text of the model's, in Markdown."""

    source: MarkdownStream = field(default_factory=MarkdownStream)
    cut_off: bool = False
    void: str = ""
    """Why the answer does not count; its text is gone then."""

    def feed(self, text: str) -> None:
        """Take a piece of the answer in."""
        self.source.feed(text)
        self.lines += text.count("\n")
        self.cells += len(text)

    @override
    def whole_text(self) -> str:
        return self.source.text


@dataclass(slots=True, eq=False)
class ThinkingBlock(Block):
    """What the model thought before it answered."""

    pieces: list[str] = field(default_factory=list[str])
    ended: bool = False
    void: bool = False

    def feed(self, text: str) -> None:
        """Take a piece in. A thought is folded: its estimate stays one row."""
        self.pieces.append(text)

    @property
    @override
    def family(self) -> str:
        return "work"

    @override
    def whole_text(self) -> str:
        return clean("".join(self.pieces))


def _place(node: CallNode) -> int:
    """The number of a program's call, which ends its id."""
    number = node.call.id.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


@dataclass(slots=True, eq=False)
class CallNode:
    """A call, and the calls that its program makes."""

    call: Call
    preview: Preview
    source: str
    """`core`, or the name of the MCP server."""
    started: float
    """Time by the document's clock; moved on by each wait for the user."""
    children: list[CallNode] = field(default_factory=list["CallNode"])
    ordinal: int = 0
    """For a program: its number in the session, from 1."""
    waits: float | None = None
    """Since when the user is asked about the call, or about one of its program's."""
    asked: int = 0
    """Approvals and questions that wait on this very call."""
    progress: str = ""
    status: Status | None = None
    """None while it runs."""
    summary: str = ""
    text: str = ""
    """What it printed or returned, raw."""
    lines_before: int = 0
    """Lines of a very long output in front of the end that is kept here."""
    cut: str = ""
    """What the model did not get of a long result, and where the whole is; empty where it got all."""
    size: int = 0
    """Characters that it returned, whole."""
    diff: str | None = None
    duration: float = 0.0
    decision: str = ""
    exit: int | None = None
    """A command's exit code, where it is known."""
    goes_on: bool = False
    """A sub-agent works in the background: its calls come after the end of its own."""

    def add(self, child: CallNode) -> None:
        """Take in a call that this one makes; those of a program stand in the order in which it made them."""
        insort(self.children, child, key=_place if self.call.tool == "run_code" else lambda _: 0)

    def finish(self, outcome: Outcome) -> None:
        """Take in what came of the call."""
        self.call = outcome.call
        self.status = outcome.status
        self.summary = outcome.summary
        self.diff = outcome.diff if outcome.status is Status.OK else None
        self.duration = outcome.duration
        self.decision = outcome.decision
        self.exit = exit_code(outcome)
        self.size = len(outcome.full_text or outcome.text)
        self.goes_on = works_on(outcome)
        text = outcome.text
        if outcome.call.tool == "Bash" and outcome.status is not Status.DENIED:
            own = outcome.call.origin is Origin.USER and outcome.status is not Status.CANCELLED
            text = without_ending(outcome.full_text or outcome.text) if own else printed_text(outcome)
        self.text = text[-KEPT_OUTPUT:]
        if len(text) > KEPT_OUTPUT:
            self.lines_before = text.strip("\n").count("\n") - self.text.strip("\n").count("\n")
        self.cut = cut_note(outcome.text)
        self.waits = None
        self.progress = ""

    @property
    def job(self) -> str:
        """Id of the background job that a command became; empty for any other call."""
        found = _JOB.match(self.summary) if self.call.tool == "Bash" else None
        return found[1] if found else ""

    @property
    def own_command(self) -> bool:
        """True for a shell line that the user typed after `!`."""
        return self.call.origin is Origin.USER and self.call.tool == "Bash"

    @property
    def is_program(self) -> bool:
        """True for run_code, whose calls are its children."""
        return self.call.tool == "run_code" or bool(self.children)


@dataclass(slots=True, eq=False)
class CallBlock(Block):
    """A call that the model or the user made, with those inside it."""

    node: CallNode = field(kw_only=True)

    @property
    @override
    def family(self) -> str:
        return "" if self.node.is_program or self.node.own_command else "work"

    @override
    def whole_text(self) -> str:
        return "\n\n".join(_node_texts(self.node))


@dataclass(slots=True, eq=False)
class NoticeBlock(Block):
    """Something that mcode says: `info`, `warning`, `error`, or `command` for a command's answer, `divider`."""

    text: str = ""
    severity: str = "info"

    def __post_init__(self) -> None:
        self._measure(self.text)

    @override
    def whole_text(self) -> str:
        return clean(self.text)


@dataclass(slots=True, eq=False)
class RemarkBlock(Block):
    """A quiet sentence between calls."""

    text: str = ""
    warn: bool = False

    @property
    @override
    def family(self) -> str:
        return "work"

    @override
    def whole_text(self) -> str:
        return clean(self.text)


@dataclass(slots=True, eq=False)
class TodoBlock(Block):
    """The model's list of steps, as it stands since."""

    todos: tuple[JsonObject, ...] = ()
    replaced: bool = False
    """True where a later list of the same turn took its place: it shows nothing."""

    @override
    def whole_text(self) -> str:
        return "\n".join(
            clean(f"[{todo.get('status')}] {todo.get('content')}", Kind.LINE) for todo in self.todos
        )


def _node_texts(node: CallNode) -> list[str]:
    title = clean(node.preview.title, Kind.LINE)
    state = node.status or "running"
    texts = [
        f"{clean(node.call.tool, Kind.LINE)}  {title}  ({state}) {clean(node.summary, Kind.LINE)}".rstrip()
    ]
    code = node.call.arguments.get("code") if node.call.tool == "run_code" else None
    texts += [clean(str(part)) for part in (code, node.text, node.diff) if part]
    for child in node.children:
        texts += _node_texts(child)
    return texts
