"""The audit of a program: one record at its start, one for each call as it ends, one at the end."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from mcode.run_code.records import CallState, well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.call import Call, Outcome
    from mcode.jsontext import JsonObject
    from mcode.run_code.limits import Limits
    from mcode.run_code.program_text import ProgramText
    from mcode.run_code.records import CallRecord, ProgramRecord
    from mcode.run_code.replies import Reply

WriteAudit: TypeAlias = "Callable[[str, str, JsonObject], None]"
"""Gets a program's id, a record's type (`start`, `call` or `end`) and the record, as it happens. Must be quick."""

ARGUMENTS_SHOWN = 2_048
"""Characters of a call's arguments that are kept, after masking."""

MESSAGE_SHOWN = 300
"""Characters of why a call failed that are kept."""

_SHORT = 200
_REMEMBERED = 256

KEYS_SHOWN = 100
"""Keys of stored values that are named."""


class Audit:
    """Has one program's records written, as `WriteAudit` says."""

    def __init__(self, program: str, write: WriteAudit, mask: Callable[[str], str]) -> None:
        self._program = program
        self._write = write
        self._mask_whole = mask
        self._masked: dict[str, str] = {}
        """Short texts that come with every call, such as decisions; looking for secrets takes time."""

    def start(self, call: Call, text: ProgramText, limits: Limits, tools: Iterable[str]) -> None:
        """The program as it was given, before anything of it runs."""
        code = text.given.encode("utf-8", "surrogatepass")
        exposed = list(tools)
        self._write(
            self._program,
            "start",
            {
                "turn": call.turn,
                "message": call.message,
                "title": self._mask(text.title),
                "sha256": hashlib.sha256(code).hexdigest(),
                "code": self._mask(well_formed(text.given)),
                "limits": asdict(limits),
                "tools": exposed,
            },
        )

    def call(self, record: CallRecord, outcome: Outcome | None, reply: Reply | None) -> None:
        """A call has ended; without an outcome it never came back from the road or was not made."""
        self._write(
            self._program,
            "call",
            {
                "index": record.number,
                "id": record.id,
                "tool": record.tool,
                "line": record.line,
                "step": record.step,
                "arguments_sha256": record.read.digest if record.read is not None else "",
                "arguments": self._beginning(record.arguments),
                "state": str(record.state),
                "restorations": [self._mask(each) for each in outcome.restorations] if outcome else [],
                "rewritten": outcome.rewritten if outcome else False,
                "hooks": [self._mask(each) for each in outcome.hooks] if outcome else [],
                "decision": self._mask(outcome.decision) if outcome is not None else "",
                "batch": outcome.batch if outcome else "",
                "waited_ms": round(record.waited * 1000),
                **_times(outcome),
                "kind": record.kind,
                "message": self._beginning(record.message, MESSAGE_SHOWN),
                "result_bytes": len(reply.body) if reply is not None else 0,
                "text_chars": len(outcome.text) if outcome is not None else 0,
                "result_sha256": reply.digest if reply is not None else "",
                "summary": self._mask(record.summary),
            },
        )

    def end(self, record: ProgramRecord, shown: int) -> None:
        """The program is over; `shown`: characters of it that went to the model."""
        states = record.states()
        self._write(
            self._program,
            "end",
            {
                "status": str(record.ending),
                "cpu_ms": round(record.cpu * 1000),
                "peak_bytes": record.peak_memory,
                "wall_ms": round(record.wall * 1000),
                "calls": {str(state): states[state] for state in CallState if states[state]},
                "not_awaited": record.not_awaited,
                "most_in_flight": record.most_in_flight,
                "bytes_in": record.bytes_in,
                "chars_out": shown,
                "chars_logged": record.log_size,
                "stored": [self._mask(well_formed(key)) for key in islice(record.stored, KEYS_SHOWN)],
                "value": self._beginning(record.value or ""),
            },
        )

    def _mask(self, text: str) -> str:
        if not text or len(text) > _SHORT:
            return self._mask_whole(text)
        masked = self._masked.get(text)
        if masked is None:
            if len(self._masked) > _REMEMBERED:
                self._masked.clear()
            masked = self._masked[text] = self._mask_whole(text)
        return masked

    def _beginning(self, text: str, most: int = ARGUMENTS_SHOWN) -> str:
        """The text up to a limit, masked: much more is looked at, so that no secret is cut in two."""
        return self._mask(well_formed(text[: most + ARGUMENTS_SHOWN]))[:most]


def _times(outcome: Outcome | None) -> JsonObject:
    """How long it took to decide and to run; left out of a call that never came back, where neither is known."""
    if outcome is None:
        return {}
    return {"judged_ms": round(outcome.judged * 1000), "duration_ms": round(outcome.duration * 1000)}
