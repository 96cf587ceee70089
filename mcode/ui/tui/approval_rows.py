"""What an approval or a question is about, as rows: all of it, with nothing hidden and nothing cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcode.call import Origin
from mcode.text import Kind, clean
from mcode.ui.diff import diff_rows
from mcode.ui.tui.look import Glyphs
from mcode.ui.tui.markdown_rows import chunk_rows
from mcode.ui.tui.markdown_stream import MarkdownStream
from mcode.ui.tui.offers import approval_offers
from mcode.ui.tui.rows import Row, Span, row
from mcode.ui.wrap import wrap_cells, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.events import ApprovalRequested
    from mcode.tool import Question
    from mcode.ui.tui.offers import Offer

_AGAIN = "\\ "
"""Begins the rest of a line that is wider than the panel."""

_DIFF = {"+": "added", "-": "removed", "@": "dim"}


def approval_rows(
    request: ApprovalRequested,
    width: int,
    *,
    start: str,
    program: int = 0,
    hooks: Sequence[str] = (),
    together: Sequence[ApprovalRequested] = (),
    everything: bool = False,
) -> list[Row]:
    """The subject whole, then the facts about it, then the calls that one answer may allow `together`.

    `start` is the directory that goes without saying; `program` the number of the program that makes the call, 0
    for none; `hooks` are the commands of those that will run after it; `everything` adds the raw arguments, and the
    rule that each answer would keep.
    """
    rows = list(_subject(request, width, everything=everything))
    if len(rows) > 1:
        rows.append(row())
    for name, value in _facts(request, "" if everything else start, program):
        rows += _fact(name, value, width)
    for command in hooks:
        rows += _fact("hook", f"{command}   (runs after it)", width)
    if everything:
        rows += answer_rows(approval_offers(request, len(together)), width)
    if len(together) > 1:
        rows.append(row())
        rows += _words(f"{len(together)} calls of this program wait with the same rule:", width, "strong")
        for at, each in enumerate(together, 1):
            text = each.preview.body or each.preview.title
            rows += _quoted(f"{at}  ", clean(text, Kind.DECISION), width, "")
    return rows


def answer_rows(offers: Sequence[Offer], width: int) -> list[Row]:
    """The numbered answers, each with the rule that it would keep."""
    return [
        each
        for number, offer in enumerate(offers, 1)
        for each in _fact(f"answer {number}", f"{offer.label}   {offer.rule}", width)
    ]


def question_rows(question: Question, position: str, width: int) -> list[Row]:
    """A tool's question; its choices are numbered below it."""
    header = f"{clean(question.header, Kind.LINE)}: " if question.header else ""
    if question.markdown:
        stream = MarkdownStream()
        stream.feed(clean(question.text, Kind.DECISION))
        stream.finish()
        rows = [
            each
            for chunk in stream.chunks
            for each in (*((row(),) if chunk.gap else ()), *chunk_rows(chunk, width, Glyphs()))
        ]
        return [*_words(f"{position}{header}".strip(": "), width, "strong"), *rows]
    text = f"{position}{header}{clean(question.text, Kind.DECISION).strip()}"
    return [each for line in text.split("\n") for each in _words(line, width, "strong")]


def needs_escaping(text: str) -> bool:
    """Whether a text holds letters that run from right to left, so that a terminal may show it in another order."""
    return any("\u0590" <= letter <= "\u08ff" or "\ufb1d" <= letter <= "\ufefc" for letter in text)


def _subject(request: ApprovalRequested, width: int, *, everything: bool) -> Iterator[Row]:
    preview = request.preview
    shown = False
    if preview.diff:
        if preview.title:
            yield from _words(clean(preview.title, Kind.DECISION).replace("\n", " "), width, "strong")
        for each in diff_rows(preview.diff, Kind.DECISION):
            shown = True
            yield from _quoted("", each.plain(), width, _DIFF.get(each.sign, ""))
    if preview.body and (everything or not shown):
        shown = True
        sign = "$ " if request.call.tool == "Bash" else ""
        yield from _quoted(sign, clean(preview.body, Kind.DECISION), width, "")
        if needs_escaping(preview.body):
            yield from _quoted(
                "as code points: ", preview.body.encode("unicode_escape").decode(), width, "dim"
            )
    if everything or not shown:
        text = json.dumps(request.call.arguments, ensure_ascii=False, indent=2)
        yield from _quoted("", clean(text, Kind.DECISION), width, "")


def _quoted(sign: str, text: str, width: int, style: str) -> Iterator[Row]:
    """Lines as they are, each cut into rows of the panel's width; what goes on from a row above says so."""
    before = " " * len(sign)
    for number, line in enumerate(text.removesuffix("\n").split("\n")):
        rows = wrap_cells(line.expandtabs(4), max(10, width - len(sign) - len(_AGAIN)))
        for at, piece in enumerate(rows):
            mark = (sign if number == 0 else before) if at == 0 else before + _AGAIN
            yield row(Span(mark, "dim"), Span(piece, style))


def _facts(request: ApprovalRequested, start: str, program: int) -> Iterator[tuple[str, str]]:
    call, preview = request.call, request.preview
    yield "on", "" if preview.diff or _subject_shows(preview.title, preview.body) else preview.title
    yield "says", str(call.arguments.get("description", "")) if call.tool == "Bash" else ""
    yield "in", "" if request.directory == start else request.directory
    yield "asked by", _asker(request, program)
    yield "because", request.reason
    yield "confined", request.sandbox
    for number, part in enumerate(request.parts):
        verdict = "allowed" if part.allowed else "needs approval"
        yield "" if number else "of it", f"{verdict}: {part.text}   ({part.why})"


def _asker(request: ApprovalRequested, program: int) -> str:
    call, site = request.call, request.site
    if call.origin is Origin.USER:
        return "you"
    agent = f"the sub-agent {request.agent}" if request.agent else ""
    if call.origin is Origin.MODEL and agent:
        return agent
    if call.origin is Origin.MODEL:
        return f"the model, turn {call.turn}" if call.turn else "the model"
    owner = f" of {agent}" if agent else ""
    if site is None:
        return f"a program{owner} (call {call.parent})"
    where = f"line {site.line}: {site.source.strip()}" if site.line else site.title
    more = f"   (calls of it that have not ended: {site.waiting} more)" if site.waiting else ""
    name = f"run_code #{program}" if program else "run_code"
    return f"{name}{owner}, call {site.number}, {where}{more}"


def _subject_shows(title: str, body: str) -> bool:
    """True where the title is nothing but the beginning of what is quoted."""
    return body.lstrip().startswith(title.removesuffix("\u2026").rstrip())


def _fact(name: str, value: str, width: int) -> Iterator[Row]:
    text = clean(value, Kind.DECISION).replace("\n", "\u2039U+000A\u203a").expandtabs(4).strip()
    if not text:
        return
    label = f"  {name:<9} "
    room = max(10, width - len(label))
    for at, piece in enumerate(cut for line in wrap_words(text, room) for cut in wrap_cells(line, room)):
        yield row(Span(label if at == 0 else " " * len(label), "dim"), Span(piece))


def _words(text: str, width: int, style: str) -> Iterator[Row]:
    for line in wrap_words(text.expandtabs(4), width):
        for piece in wrap_cells(line, width):
            yield row(Span(piece, style))
