"""Approvals and questions put to the editor's user, and their answers brought back to the desk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from mcode.events import ApprovalRequested, ApprovalResolved, QuestionAsked, QuestionResolved
from mcode.text import Kind, clean
from mcode.tool import Preview
from mcode.ui.acp.updates import described

if TYPE_CHECKING:
    from mcode.commands.host import QuestionDesk
    from mcode.events import Event
    from mcode.jsontext import JsonObject

KINDS = {"once": "allow_once", "batch": "allow_once", "deny": "reject_once", "stop": "reject_always"}
"""What the protocol calls our choices; any other allows more than once."""


class Asker(Protocol):
    """The editor, as far as it is asked."""

    async def request_permission(self, call: JsonObject, options: list[JsonObject]) -> str | None:
        """The id of the option that the user chose; None where they turned away."""
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
        call = described(event.call, event.preview)
        why = {"type": "content", "content": {"type": "text", "text": clean(event.reason, Kind.DECISION)}}
        chosen = await self._asker.request_permission({**call, "content": [*call["content"], why]}, options)
        self._desk.decide(event.approval_id, chosen or "deny")

    async def _answer(self, event: QuestionAsked) -> None:
        """One question with choices is asked; for anything else the protocol has no form, and it is declined."""
        (question, *more) = event.questions
        if more or question.several or not question.choices:
            self._desk.answer(event.question_id, None)
            return
        options: list[JsonObject] = [
            {"optionId": str(at), "name": clean(choice.label, Kind.LINE), "kind": "allow_once"}
            for at, choice in enumerate(question.choices)
        ]
        call = described(event.call, Preview(question.text))
        chosen = await self._asker.request_permission(call, options)
        answers = ((question.choices[int(chosen)].label,),) if chosen is not None else None
        self._desk.answer(event.question_id, answers)
