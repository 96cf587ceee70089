"""The blocks of a transcript: what was said, called and remarked, as values without any look."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from mcode.text import Kind, clean
from mcode.ui.tui.markdown_stream import MarkdownStream
from mcode.ui.tui.text_holder import TextHolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.jsontext import JsonObject
    from mcode.ui.tui.call_node import CallNode


class Fold(Enum):
    """How much of a block is shown."""

    AUTO = "auto"
    """What a reader wants unasked: the end of an output, the first rows of a change."""
    FOLDED = "folded"
    OPEN = "open"


@dataclass(slots=True, eq=False)
class Block(TextHolder):
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

    def holders(self) -> Iterator[TextHolder]:
        """What holds its source text: itself, or the calls in it."""
        yield self

    def _measure(self, text: str) -> None:
        self.lines = text.count("\n") + 1
        self.cells = len(text)


@dataclass(slots=True, eq=False)
class UserBlock(Block):
    """A message of the user's."""

    HELD: ClassVar[tuple[str, ...]] = ("text",)

    text: str = ""

    def __post_init__(self) -> None:
        self._measure(self.text)

    @override
    def whole_text(self) -> str:
        return clean(self.text)


@dataclass(slots=True, eq=False)
class AnswerBlock(Block):
    """Text of the model's, in Markdown."""

    HELD: ClassVar[tuple[str, ...]] = ("source",)

    source: MarkdownStream = field(default_factory=MarkdownStream)
    cut_off: bool = False
    void: str = ""
    """Why the answer does not count; its text is gone then."""

    def feed(self, text: str) -> None:
        """Take a piece of the answer in."""
        self.source.feed(text)
        self.lines += text.count("\n")
        self.cells += len(text)

    @property
    @override
    def settled(self) -> bool:
        return self.source.ended

    @override
    def whole_text(self) -> str:
        return self.source.text


@dataclass(slots=True, eq=False)
class ThinkingBlock(Block):
    """What the model thought before it answered."""

    HELD: ClassVar[tuple[str, ...]] = ("pieces",)

    pieces: list[str] = field(default_factory=list[str])
    ended: bool = False
    void: bool = False

    def feed(self, text: str) -> None:
        """Take a piece in. A thought is folded: its estimate stays one row."""
        self.pieces.append(text)

    @property
    @override
    def settled(self) -> bool:
        return self.ended

    @property
    @override
    def family(self) -> str:
        return "work"

    @override
    def whole_text(self) -> str:
        return clean("".join(self.pieces))


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
        return "\n\n".join(self.node.texts())

    @override
    def holders(self) -> Iterator[TextHolder]:
        return self.node.walk()


@dataclass(slots=True, eq=False)
class NoticeBlock(Block):
    """Something that mcode says: `info`, `warning`, `error`, or `command` for a command's answer, `divider`."""

    HELD: ClassVar[tuple[str, ...]] = ("text",)

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

    HELD: ClassVar[tuple[str, ...]] = ("text",)

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

    HELD: ClassVar[tuple[str, ...]] = ("todos",)

    todos: tuple[JsonObject, ...] = ()
    replaced: bool = False
    """True where a later list of the same turn took its place: it shows nothing."""

    @override
    def whole_text(self) -> str:
        return "\n".join(
            clean(f"[{todo.get('status')}] {todo.get('content')}", Kind.LINE) for todo in self.todos
        )
