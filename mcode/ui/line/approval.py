"""An approval in words: the block that shows what is decided on, and the words that decide it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.call import Origin
from mcode.text import Kind, cell_width, clean
from mcode.ui.diff import diff_rows, painted
from mcode.ui.wrap import wrap_cells, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.events import ApprovalChoice, ApprovalRequested
    from mcode.tool import Preview
    from mcode.ui.look import Look

SHOW = "show"
"""The word that prints everything again and decides nothing."""

BATCH = "batch"
"""The word that allows all calls that are listed with this one."""

_KEPT = {"program": "", "session": "", "local": " in .mcode/settings.local.json"}
"""Where a rule would stand, by destination; another destination is a path already. Label and place together
say how long it holds."""

_WITH_COMMENT = frozenset({"deny", "stop"})
"""Choices after which the user may say why."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a line typed at the approval prompt means."""

    choice: str
    comment: str = ""


def offered(request: ApprovalRequested, batch: Sequence[ApprovalRequested]) -> tuple[ApprovalChoice, ...]:
    """The choices of an approval; with `batch`, the calls listed with it, one more that allows exactly these."""
    if not batch:
        return request.choices
    from mcode.events import ApprovalChoice

    together = ApprovalChoice(
        BATCH, f"Allow these {len(batch)} calls once: this one and the ones listed with it"
    )
    return (*request.choices[:1], together, *request.choices[1:])


def approval_lines(
    request: ApprovalRequested,
    position: str,
    look: Look,
    width: int,
    *,
    start: str = "",
    everything: bool = False,
    batch: Sequence[ApprovalRequested] = (),
) -> list[str]:
    """All that the user decides on, each part once.

    `position` is such as `1 of 2`; `start` is the directory that goes without saying; `everything` adds the raw
    arguments; `batch` are the calls that may be allowed with this one, itself included.
    """
    palette = look.palette
    tool = clean(request.call.tool, Kind.DECISION)
    lines = [palette.bold(f"Approval: {tool} waits for you ({position})")]
    lines += _facts(request, width, "" if everything else start)
    lines += _subject(request, look, width, everything=everything)
    for also in batch:
        if also is not request:
            lines.append(palette.bold(f"  with it: {tool} {_place(also)}".rstrip()))
            lines += _subject(also, look, width, everything=everything)
    for choice in offered(request, batch):
        lines += _offer(choice, width)
    lines += _wrapped(f"  {SHOW:<9} ", "Print it again, with the raw arguments; decides nothing", width)
    if not look.decorated:  # else the row above the prompt names the words
        lines.append("Type one of these words, then Enter. Other text goes to your draft.")
    return lines


def reminder_lines(
    request: ApprovalRequested, position: str, look: Look, choices: Sequence[ApprovalChoice]
) -> list[str]:
    """The short form, where the whole block is the last thing on the screen already."""
    words = ", ".join(choice.key for choice in choices)
    tool = clean(request.call.tool, Kind.DECISION)
    return [look.palette.bold(f"Approval: {tool} still waits ({position}), shown above: {words} or {SHOW}")]


def read_decision(text: str, choices: Sequence[ApprovalChoice]) -> Decision | str:
    """The decision that a line spells out, or a sentence that says why it is none. Nothing is guessed."""
    word, _, rest = text.strip().partition(" ")
    word, comment = word.lower(), rest.strip()
    known = {choice.key for choice in choices} | {SHOW}
    if word not in known:
        return f"`{text.strip()}` is none of the words; nothing was decided. {_words(choices)}"
    if comment and word not in _WITH_COMMENT:
        return f"`{word}` stands alone; nothing was decided. Words for the agent go after `deny`."
    return Decision(word, comment)


def could_decide(text: str, choices: Sequence[ApprovalChoice]) -> bool:
    """True while a line may still become a decision; False as soon as it must be something else."""
    typed = text.lstrip().lower()
    known = [choice.key for choice in choices] + [SHOW]
    if any(word.startswith(typed.rstrip()) and not typed.startswith(word + " ") for word in known):
        return True
    word, blank, rest = typed.partition(" ")
    if not blank or word not in known:
        return False
    return word in _WITH_COMMENT or not rest.strip()


def _facts(request: ApprovalRequested, width: int, start: str) -> Iterator[str]:
    call, preview, site = request.call, request.preview, request.site
    agent = f"the sub-agent {request.agent}" if request.agent else ""
    owner = f" of {agent}" if agent else ""
    program = f"a program{owner} (call {call.parent})"
    if site is not None:
        program = f'the program "{site.title}"{owner}, {_place(request)}'
    asked_by = {
        Origin.MODEL: agent,  # empty in the usual case
        Origin.USER: "you",
        Origin.PROGRAM: program,
        Origin.COMMAND: "",  # nobody is asked about these
    }[call.origin]
    waiting = f"{site.waiting} more of its calls wait or run" if site and site.waiting else ""
    facts = (
        ("on", "" if _subject_shows(preview) else preview.title),
        ("says", str(call.arguments.get("description", "")) if call.tool == "Bash" else ""),
        ("in", "" if request.directory == start else request.directory),
        ("because", request.reason),
        ("asked by", asked_by),
        ("its line", f"{site.line}: {site.source}" if site and site.line else ""),
        ("beside", waiting),
        ("confined", request.sandbox),
    )
    for name, value in facts:
        text = _one_line(value)
        if text:
            yield from _wrapped(f"  {name:<9} ", text, width)
    for number, part in enumerate(request.parts):
        verdict = "allowed" if part.allowed else "needs approval"
        text = f"{verdict}: {_one_line(part.text)}   ({_one_line(part.why)})"
        yield from _wrapped(f"  {'' if number else 'of it':<9} ", text, width)


def _place(request: ApprovalRequested) -> str:
    """Where in its program a call was made."""
    site = request.site
    if site is None:
        return ""
    return f"call {site.number}, line {site.line}" if site.line else f"call {site.number}"


def _subject_shows(preview: Preview) -> bool:
    """True where the title is nothing but the beginning of what is quoted below it."""
    title = preview.title.removesuffix("\u2026").rstrip()
    return not preview.diff and preview.body.lstrip().startswith(title)


def _subject(request: ApprovalRequested, look: Look, width: int, *, everything: bool) -> Iterator[str]:
    preview = request.preview
    shown = False
    if preview.diff:
        for row in diff_rows(preview.diff, Kind.DECISION):
            shown = True
            yield from _quoted(painted(row, look.palette), row.plain(), look, width)
    if preview.body and (everything or not shown):
        shown = True
        yield from _quoted_text(clean(preview.body, Kind.DECISION), look, width)
    if everything or not shown:
        text = json.dumps(request.call.arguments, ensure_ascii=False, indent=2)
        yield from _quoted_text(clean(text, Kind.DECISION), look, width)


def _quoted_text(text: str, look: Look, width: int) -> Iterator[str]:
    for line in text.removesuffix("\n").split("\n"):
        yield from _quoted(line, line, look, width)


def _quoted(line: str, plain: str, look: Look, width: int) -> Iterator[str]:
    """A line behind the quote mark. One that is too wide is cut into rows here: the terminal would let its
    rest begin where only our own words begin."""
    rows = wrap_cells(plain.expandtabs(4), max(10, width - len(look.quote)))
    if len(rows) == 1:
        yield look.quote + line.expandtabs(4)
        return
    yield look.quote + rows[0]
    for row in rows[1:]:
        yield look.quote_again + row


def _wrapped(first: str, text: str, width: int) -> Iterator[str]:
    room = max(10, width - len(first))
    rows = [cut for row in wrap_words(text.expandtabs(4), room) for cut in wrap_cells(row, room)]
    for at, row in enumerate(rows):
        yield (" " * len(first) if at else first) + row


def _offer(choice: ApprovalChoice, width: int) -> Iterator[str]:
    more = " (your reason may follow the word)" if choice.key in _WITH_COMMENT else ""
    word, label = f"  {choice.key:<9} ", _one_line(choice.label) + more
    if choice.rule is None:
        yield from _wrapped(word, label, width)
        return
    kept = _KEPT.get(choice.destination or "session")
    place = f" in {_one_line(choice.destination or '')}" if kept is None else kept
    rule = f"rule: {_one_line(choice.rule)}{place}"
    if cell_width(f"{word}{label}   {rule}") <= width:
        yield f"{word}{label}   {rule}"
        return
    yield from _wrapped(word, label, width)
    yield from _wrapped(" " * len(word), rule, width)


def _one_line(text: str) -> str:
    return clean(text, Kind.DECISION).replace("\n", "\u2039U+000A\u203a")


def _words(choices: Sequence[ApprovalChoice]) -> str:
    return f"The words are {', '.join(choice.key for choice in choices)} and {SHOW}."
