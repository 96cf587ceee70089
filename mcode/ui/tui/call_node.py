"""A call in the transcript, with the calls made inside of it, as a value without any look."""

from __future__ import annotations

import re
from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from mcode.call import Origin, Status
from mcode.text import Kind, clean
from mcode.ui.output import cut_note, exit_code, printed_text, without_ending, works_on
from mcode.ui.tui.text_holder import TextHolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.call import Call, Outcome

_JOB = re.compile(r"background job (b\d+)")
"""How the summary of a call begins that started one; after a resume there is nothing else."""

KEPT_OUTPUT = 400_000
"""Characters at the end of a call's output that its card keeps; the session file has what the model got."""


@dataclass(slots=True, eq=False)
class CallNode(TextHolder):
    """A call, and the calls that its program makes."""

    HELD: ClassVar[tuple[str, ...]] = ("call", "title", "text", "diff")

    call: Call
    title: str
    """What the call is about, in a line."""
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
        self.bring_back()
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
    @override
    def settled(self) -> bool:
        return self.status is not None

    def walk(self) -> Iterator[CallNode]:
        """This call and all that were made inside of it, outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()

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

    def texts(self) -> list[str]:
        """All that is known of it and of the calls in it, clean."""
        title = clean(self.title, Kind.LINE)
        state = self.status or "running"
        texts = [
            f"{clean(self.call.tool, Kind.LINE)}  {title}  ({state}) {clean(self.summary, Kind.LINE)}".rstrip()
        ]
        code = self.call.arguments.get("code") if self.call.tool == "run_code" else None
        texts += [clean(str(part)) for part in (code, self.text, self.diff) if part]
        for child in self.children:
            texts += child.texts()
        return texts


def _place(node: CallNode) -> int:
    """The number of a program's call, which ends its id."""
    number = node.call.id.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0
