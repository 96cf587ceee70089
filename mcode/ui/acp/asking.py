"""Approvals and questions put to the editor's user, and their answers brought back to the desk."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from mcode.config.trust import MCP_SERVER
from mcode.events import ApprovalRequested, ApprovalResolved, QuestionAsked, QuestionResolved
from mcode.pipeline.choices import DENY, YOU
from mcode.text import Kind, clean, shorten
from mcode.tool import Preview
from mcode.ui.acp.updates import described

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.commands.host import QuestionDesk, TrustControl
    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.tool import Question

logger = logging.getLogger(__name__)

WITH_WORDS = "deny with words"
"""The option of an approval that asks for the user's words to the model."""

OTHER = "other"
"""The option of a question that lets the user write an answer."""

LATER, NEVER, TRUST = "later", "never", "trust"
"""Answers about a folder; the last two are those of TrustControl."""

KINDS = {"once": "allow_once", "batch": "allow_once", "deny": "reject_once", "stop": "reject_always"}
"""What the protocol calls our choices; any other allows more than once."""

REFUSALS = ("No", "Never", "Do not")
"""What the label of a choice that refuses begins with."""


class Asker(Protocol):
    """The editor, as far as it is asked."""

    @property
    def takes_forms(self) -> bool:
        """Whether it can ask for words."""
        ...

    async def request_permission(self, call: JsonObject, options: list[JsonObject]) -> str | None:
        """The id of the option that the user chose; None where they turned away."""
        ...

    async def fill_in(self, message: str, fields: JsonObject) -> JsonObject | None:
        """What the user filled in; None where they turned away. `fields`: the form's properties, by name."""
        ...


class Questions:
    """Puts up what waits for the user, each as a request of its own."""

    def __init__(self, desk: QuestionDesk, asker: Asker) -> None:
        self._desk = desk
        self._asker = asker
        self._open: dict[str, asyncio.Task[None]] = {}
        self._detach = desk.attach()

    def receive(self, event: Event) -> None:
        """Take in what begins or ceases to wait."""
        match event:
            case ApprovalRequested(approval_id=identifier):
                self._open[identifier] = asyncio.ensure_future(self._approve(event))
            case QuestionAsked(question_id=identifier):
                self._open[identifier] = asyncio.ensure_future(self._answer(event))
            case ApprovalResolved(approval_id=identifier) | QuestionResolved(question_id=identifier):
                self._forget(identifier)
            case _:
                pass

    def close(self) -> None:
        """Ask nothing any more; what waits is withdrawn with the session."""
        for identifier in list(self._open):
            self._forget(identifier)
        self._detach()

    def _forget(self, identifier: str) -> None:
        task = self._open.pop(identifier, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _approve(self, event: ApprovalRequested) -> None:
        options: list[JsonObject] = [
            {
                "optionId": choice.key,
                "name": clean(choice.label, Kind.LINE),
                "kind": KINDS.get(choice.key, "allow_always"),
            }
            for choice in event.choices
        ]
        if self._asker.takes_forms:
            options.append({"optionId": WITH_WORDS, "name": "No, and say why", "kind": "reject_once"})
        call = described(event.call, event.preview)
        asked = f"\nasked by the sub-agent {event.agent}" if event.agent else ""
        text = clean(event.reason + asked, Kind.DECISION)
        why = {"type": "content", "content": {"type": "text", "text": text}}
        chosen = await self._asker.request_permission({**call, "content": [*call["content"], why]}, options)
        comment, by = "", YOU
        if chosen is not None and chosen not in {option["optionId"] for option in options}:
            comment = f"it answered with {_quoted(chosen)}, which is none of the options that it was given"
            chosen, by = DENY, "the editor"
        elif chosen == WITH_WORDS:
            chosen, comment = DENY, await self._words("What shall the model know?", "Comment") or ""
        self._desk.decide(event.approval_id, chosen or DENY, comment, by=by)

    async def _answer(self, event: QuestionAsked) -> None:
        """Each question in a request of its own; one for words alone is declined where the editor has no forms."""
        answers: list[tuple[str, ...]] = []
        for question in event.questions:
            answer = await self._answer_to(event.call, question)
            if answer is None:
                self._desk.answer(event.question_id, None)
                return
            answers.append(answer)
        self._desk.answer(event.question_id, tuple(answers))

    async def _answer_to(self, call: Call, question: Question) -> tuple[str, ...] | None:
        """Labels of choices, or the user's words; None where they turned away."""
        text = clean(question.text, Kind.DECISION)
        if question.choices and not (question.several and self._asker.takes_forms):
            chosen = await self._choose(call, question)
            if chosen == OTHER:
                chosen = await self._words(text, question.header or "Answer")
            return None if chosen is None else (chosen,)
        if not question.choices:
            words = await self._words(text, question.header or "Answer")
            return None if words is None else (words,)
        labels = [choice.label for choice in question.choices]
        fields: JsonObject = {
            "chosen": {"type": "array", "title": "Choices", "items": {"type": "string", "enum": labels}},
            "other": {"type": "string", "title": "Something else"},
        }
        filled = await self._asker.fill_in(text, fields)
        if filled is None:
            return None
        chosen_labels = [label for label in labels if label in (filled.get("chosen") or ())]
        own = str(filled.get("other") or "").strip()
        return (*chosen_labels, *([own] if own else []))

    async def _words(self, message: str, title: str) -> str | None:
        """The user's own words; None where they turned away, or the editor cannot ask for any."""
        if not self._asker.takes_forms:
            return None
        filled = await self._asker.fill_in(message, {"words": {"type": "string", "title": title}})
        return str(filled.get("words") or "").strip() if filled is not None else None

    async def _choose(self, call: Call, question: Question) -> str | None:
        """The label of one choice, or OTHER; None where the user turned away."""
        options: list[JsonObject] = [
            {
                "optionId": str(at),
                "name": clean(f"{choice.label}: {choice.description}".rstrip(": "), Kind.LINE),
                "kind": "reject_once" if choice.label.startswith(REFUSALS) else "allow_once",
            }
            for at, choice in enumerate(question.choices)
        ]
        if self._asker.takes_forms:
            options.append({"optionId": OTHER, "name": "Something else", "kind": "reject_once"})
        first = question.text.strip().splitlines()[0].lstrip("# ") if question.text.strip() else ""
        shown = described(call, Preview(question.header or first, question.text))
        chosen = await self._asker.request_permission(shown, options)
        if chosen == OTHER and self._asker.takes_forms:
            return OTHER
        labels = {str(at): choice.label for at, choice in enumerate(question.choices)}
        if chosen is not None and chosen not in labels:
            logger.warning(
                "the editor answered a question with %s, which was none of its options", _quoted(chosen)
            )
        return labels.get(chosen or "")


def _quoted(option: str) -> str:
    return f"`{shorten(clean(option, Kind.LINE), 60)}`"


async def trusts_folder(control: TrustControl, asker: Asker) -> bool:
    """Ask whether what the folder's files would grant shall count; True where it does from now on.

    Servers that wait are asked about in the session, like in every front end.
    """
    if all(item.kind == MCP_SERVER for item in control.waiting()):
        return False
    options: list[JsonObject] = [
        {"optionId": LATER, "name": "Not now", "kind": "reject_once"},
        {"optionId": NEVER, "name": "Never, until it changes", "kind": "reject_always"},
        {"optionId": TRUST, "name": "Trust this folder", "kind": "allow_always"},
    ]
    page = {"type": "content", "content": {"type": "text", "text": clean(control.page(), Kind.DECISION)}}
    call: JsonObject = {
        "toolCallId": "mcode_trust",
        "title": "Trust what the files of this folder bring?",
        "kind": "other",
        "content": [page],
    }
    chosen = await asker.request_permission(call, options)
    if chosen in (TRUST, NEVER):
        await control.answer(chosen)
    return chosen == TRUST
