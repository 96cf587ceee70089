"""Cards of calls: the row of the call, and under it what it changed, printed or did inside its program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.call import Status
from mcode.text import Kind, cell_width, clean
from mcode.ui.diff import diff_rows
from mcode.ui.tui.blocks import Fold
from mcode.ui.tui.call_rows import NARROW, child_row, head_row, reason_of, state_word
from mcode.ui.tui.code_rows import coloured
from mcode.ui.tui.output_rows import LONGEST_LINE, output_rows, tail_rows
from mcode.ui.tui.rows import MOST_ROWS, Row, Span, indented
from mcode.ui.tui.wrapping import break_cells, shorten_with, wrap_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.ui.diff import DiffRow
    from mcode.ui.tui.call_node import CallNode
    from mcode.ui.tui.look import Glyphs

OUTPUT_ROWS, TROUBLE_ROWS, RESULT_ROWS, DIFF_ROWS, REASON_ROWS = 8, 12, 6, 40, 4
"""Rows that are shown unasked: of a command's output, of one that failed, of a program's or a search's result,
of a change, and of why a call failed."""

NESTED_DIFF_ROWS, LOG_ROWS = 12, 3
"""The same of a change that a program's call made, and of the end of a program's console."""

SHOWN_CHILDREN = 8
"""Calls of a program that are all shown; of more, the first two, the last three, and those that need a look."""

_FIRST, _LAST = 2, 3
_CONSOLE = "Console:\n"
_SHOWING = frozenset({"tool_search", "call_tool"})
"""Tools whose result says more than its summary."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a card is drawn with."""

    width: int
    glyphs: Glyphs
    now: float
    """Time by the document's clock."""
    fold: Fold = Fold.AUTO

    @property
    def narrow(self) -> bool:
        return self.width < NARROW


def card_rows(node: CallNode, card: Card) -> list[Row]:
    """The rows of a call and of everything under it."""
    if node.own_command:
        return _own_command(node, card)
    body = _program(node, card) if node.is_program else _body(node, card)
    return [head_row(node, card.width, card.glyphs, card.now, is_open=bool(body)), *body]


def change_rows(diff: str, width: int, most: int = MOST_ROWS) -> list[Row]:
    """A unified diff as rows: line number, sign, text. A copy has the sign and the text."""
    rows: list[Row] = []
    left = 0
    for each in diff_rows(diff):
        if left or len(rows) >= most:
            left += 1
        else:
            rows += _change_row(each, width)
    left += max(0, len(rows) - most)
    return [*rows[:most], _more(left, "row", "of this change")] if left else rows


def _change_row(each: DiffRow, width: int) -> list[Row]:
    if each.sign == "@":
        return [Row((Span("     ...", "dim"),))]
    style = {"+": "added", "-": "removed"}.get(each.sign, "")
    number = f"{'' if each.number is None else each.number:>6} "
    text = each.text.replace("\n", " ").expandtabs(4)[:4000]  # a separator that is no line end in the file
    first, *more = break_cells([Span(text, style)], max(8, width - len(number) - 2))
    rows = [Row((Span(number, "dim"), Span(f"{each.sign} ", style), *first.spans), len(number))]
    margin = Span(" " * (len(number) + 2))
    return rows + [Row((margin, *row.spans), len(margin.text), row.joint) for row in more]


def _body(node: CallNode, card: Card) -> list[Row]:
    if node.status is None or card.fold is Fold.FOLDED:
        return []
    margin = (Span("  " if card.narrow else "    "),)
    width = card.width - len(margin[0].text)
    whole = card.fold is Fold.OPEN
    rows: list[Row] = []
    if node.status is Status.DENIED:
        rows = wrap_spans([Span(reason_of(node), "warn")], width)
    elif node.diff is not None and (whole or node.decision != "approved by you"):
        rows = change_rows(node.diff, width, MOST_ROWS if whole else DIFF_ROWS)
    elif node.call.tool == "Bash":
        rows = _printed(node, width, whole=whole)
    elif node.status is not Status.OK:
        rows = _reason(node, width, MOST_ROWS if whole else REASON_ROWS)
    elif whole or node.call.tool in _SHOWING:
        rows = _result(node.text, width, MOST_ROWS if whole else OUTPUT_ROWS)
    return indented([*rows, *_cut(node, width)], margin)


def _cut(node: CallNode, width: int) -> list[Row]:
    """What of a long result the model did not get, and where the whole is."""
    return wrap_spans([Span(f"({clean(node.cut, Kind.LINE)})", "dim")], width) if node.cut else []


def _printed(node: CallNode, width: int, *, whole: bool) -> list[Row]:
    if not node.text.strip():
        return []
    if whole:
        rows, left = output_rows(node.text, width, MOST_ROWS)
        return [*rows, _more(left, "line", "below; Ctrl+O")] if left else rows
    trouble = node.status is not Status.OK or bool(node.exit)
    rows, left = tail_rows(node.text, width, TROUBLE_ROWS if trouble else OUTPUT_ROWS)
    left += node.lines_before
    return [_more(left, "line", "before; Ctrl+O"), *rows] if left else rows


def _result(text: str, width: int, most: int) -> list[Row]:
    if not text.strip():
        return []
    rows, left = output_rows(text, width, most)
    rows = [
        Row(tuple(Span(span.text, span.style or "dim") for span in each.spans), each.margin, each.joint)
        for each in rows
    ]
    return [*rows, _more(left, "line", "below; Ctrl+O")] if left else rows


def _told(text: str, width: int, most: int) -> list[Row]:
    """What mcode says of a program that failed: broken between words, but for lines of code that fit."""
    lines = clean(text, Kind.BLOCK).expandtabs(4).strip("\n").split("\n")
    rows: list[Row] = []
    for number, line in enumerate(lines):
        made = wrap_spans([Span(line[:LONGEST_LINE], "bad" if number == 0 else "dim")], width)
        last = number == len(lines) - 1 and len(made) == 1  # it takes no more room than that it is missing
        if rows and len(rows) + len(made) > most and not last:
            return [*rows, _more(len(lines) - number, "line", "below; Ctrl+O")]
        rows += made
    return rows


def _reason(node: CallNode, width: int, most: int) -> list[Row]:
    lines = reason_of(node).expandtabs(4).split("\n")
    most += len(lines) == most + 1  # one line takes no more room than that it is missing
    rows: list[Row] = []
    for line in lines[:most]:
        rows += wrap_spans([Span(line[:4000], "bad" if not rows else "")], width)
    return [*rows, _more(len(lines) - most, "line", "below; Ctrl+O")] if len(lines) > most else rows


def _own_command(node: CallNode, card: Card) -> list[Row]:
    """The user's own shell line, its output, and how it ended."""
    command = clean(str(node.call.arguments.get("command", ""))[:4000], Kind.DECISION)
    lines = command.expandtabs(4).split("\n")
    rows: list[Row] = []
    for index, line in enumerate(lines):
        margin = (Span("! " if index == 0 else "  ", "user"),)
        rows += indented(wrap_spans([Span(line, "strong")], card.width - 2), margin, (Span("  "),))
    if node.status is None:
        return [*rows, child_row(node, card.width, card.glyphs, card.now, (Span("  "),))]
    if card.fold is not Fold.FOLDED and node.text.strip() not in {"", "(no output)"}:
        printed, left = output_rows(node.text, card.width - 2, MOST_ROWS)
        rows += indented([*printed, *([_more(left, "line", "below; Ctrl+O")] if left else [])], (Span("  "),))
    return [*rows, child_row(node, card.width, card.glyphs, card.now, (Span("  "),))]


def _program(node: CallNode, card: Card) -> list[Row]:
    sides = not card.narrow
    glyphs = card.glyphs
    width = card.width
    rows: list[Row] = []
    if card.fold is not Fold.FOLDED:
        rows += _code(node, card)
    children = _shown(node, card.fold)
    result = _program_result(node, card)
    for index, child in enumerate(children):
        last = index == len(children) - 1 and not result
        branch = f"  {glyphs.last if last else glyphs.branch} " if sides else "  "
        margin = (Span(branch, "rule"),)
        if isinstance(child, str):
            rows.append(Row((*margin, Span(child, "dim"))))
        else:
            rows.append(child_row(child, width, glyphs, card.now, margin))
            rows += _nested_change(child, card, last=last)
            rows += _grandchildren(child, card)
    return [*rows, *result]


def _nested_change(node: CallNode, card: Card, *, last: bool) -> list[Row]:
    """What a call of a program changed, as its own card would show it."""
    whole = card.fold is Fold.OPEN
    if node.diff is None or not (whole or (card.fold is Fold.AUTO and node.decision != "approved by you")):
        return []
    margin = "    " if card.narrow else "      " if last else f"  {card.glyphs.side}   "
    most = MOST_ROWS if whole else NESTED_DIFF_ROWS
    return indented(change_rows(node.diff, card.width - len(margin), most), (Span(margin, "rule"),))


def _grandchildren(node: CallNode, card: Card) -> Iterable[Row]:
    """Calls of a program inside a program; depth is cut at one more level."""
    for child in node.children[:SHOWN_CHILDREN]:
        yield child_row(child, card.width, card.glyphs, card.now, (Span("      ", "rule"),))


def _code(node: CallNode, card: Card) -> list[Row]:
    side = (Span(f"  {card.glyphs.side} " if not card.narrow else "  ", "rule"),)
    code = clean(str(node.call.arguments.get("code", ""))).expandtabs(4).strip("\n")
    lines = code.split("\n")
    if not code.strip():
        return indented(_task(node, card), side)
    if card.fold is Fold.OPEN:
        spans = coloured(lines, "javascript") or [[Span(line)] for line in lines]
        rows = [row for line in spans[:MOST_ROWS] for row in break_cells(line, card.width - 4)]
        return indented(rows, side)
    note = f"({len(lines)} lines, Ctrl+O)" if len(lines) > 1 and card.width >= 40 else ""
    width = min(card.width, 110) - 4
    title = clean(node.title, Kind.LINE) or lines[0]
    if title.endswith("\u2026"):
        title = title[:-1] + card.glyphs.cut
    text = shorten_with(title, max(8, width - cell_width(note) - 2), card.glyphs.cut)
    gap = " " * max(2, width - cell_width(text) - cell_width(note)) if note else ""
    return indented([Row((Span(text, "code"), Span(gap), Span(note, "dim")))], side)


def _task(node: CallNode, card: Card) -> list[Row]:
    """What a sub-agent was told to do, once its card is unfolded."""
    told = clean(str(node.call.arguments.get("prompt", ""))).expandtabs(4).strip("\n")
    if card.fold is not Fold.OPEN or not told.strip():
        return []
    rows = [
        row for line in told.split("\n") for row in wrap_spans([Span(line[:LONGEST_LINE])], card.width - 4)
    ]
    return rows[:MOST_ROWS]


def _program_result(node: CallNode, card: Card) -> list[Row]:
    """What the model was told of a program that has ended; while it is folded only of one that failed."""
    if node.status is None:
        return []
    trouble = node.status is not Status.OK
    if card.fold is Fold.FOLDED and not trouble:
        return []
    most = MOST_ROWS if card.fold is Fold.OPEN else RESULT_ROWS
    status, _, rest = node.text.partition("\n")
    text = rest.strip("\n") if status.startswith(("ok: ", "failed (")) else node.text
    log: list[Row] = []
    before, console, printed = text.rpartition(_CONSOLE)
    if console and card.fold is not Fold.OPEN:
        log, left = tail_rows(printed, card.width - 4, LOG_ROWS)
        log = [_more(left, "line", "of the console before"), *log] if left else log
        text = before
    side = (Span(f"  {card.glyphs.last} " if not card.narrow else "  ", "rule"),)
    told = _told(text, card.width - 4, most) if trouble else _result(text, card.width - 4, most)
    rows = [*log, *told, *_cut(node, card.width - 4)]
    return indented(rows, side, (Span("    " if not card.narrow else "  "),))


def _shown(node: CallNode, fold: Fold) -> Sequence[CallNode | str]:
    """The calls that get a row; one row of words stands for all others."""
    children = node.children
    if fold is Fold.OPEN or (fold is Fold.AUTO and len(children) <= SHOWN_CHILDREN):
        return children
    folded = fold is Fold.FOLDED
    first, last = (0, 0) if folded else (_FIRST, _LAST)
    shown: list[CallNode | str] = []
    hidden: dict[str, int] = {}
    place = 0
    for index, child in enumerate(children):
        running = child.status is None and not folded
        failed = child.status is Status.FAILED or child.status is Status.DENIED
        if index < first or index >= len(children) - last or running or failed or child.asked:
            shown.append(child)
            continue
        if not hidden:
            place = len(shown)
        word = state_word(child)
        hidden[word] = hidden.get(word, 0) + 1
    if hidden and not folded:
        shown.insert(place, ", ".join(f"{count} more {word}" for word, count in hidden.items()))
    return shown


def _more(count: int, noun: str, where: str) -> Row:
    return Row((Span(f"({count:,} more {noun}{'' if count == 1 else 's'} {where})", "dim"),))
