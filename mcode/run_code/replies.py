"""What a call's outcome becomes in the program: `{ok, value, text}`, or `{ok: false, error}`. Never an exception."""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import Status
from mcode.run_code.bigjson import PART, encode, is_small

if TYPE_CHECKING:
    from mcode.call import Outcome
    from mcode.jsontext import JsonObject, JsonValue

_LONG_NUMBER = re.compile(r"[\[:,\s]-?\d{16,}\s*[,\]}]")
_SEARCHED = 1 << 20
_OVERLAP = 64


@dataclass(frozen=True, slots=True)
class Reply:
    """A result as it goes into the program."""

    body: bytes
    """JSON."""
    kind: str = ""
    """Why the call failed; empty where it did not."""
    message: str = ""
    hashed: str = ""
    """The digest, where it was made beforehand because there is much to look at."""

    @property
    def digest(self) -> str:
        """SHA-256 of `body`, in hexadecimal."""
        return self.hashed or hashlib.sha256(self.body).hexdigest()


def refusal(kind: str, message: str) -> Reply:
    """A failure that never was on the road, or never came back from it."""
    body = encode({"ok": False, "error": {"kind": kind, "message": message}})
    return Reply(body, kind, message)


async def reply_to(outcome: Outcome, limit: int, *, from_server: bool) -> Reply:
    """The reply for an outcome. `limit`: bytes of JSON a result may have; `from_server`: it came over MCP, so text
    that is JSON arrives as what it means.
    """
    if len(outcome.full_text) <= PART and is_small(outcome.data):
        return _reply(outcome, limit, from_server, small=True)
    return await asyncio.to_thread(_large_reply, outcome, limit, from_server)


def _large_reply(outcome: Outcome, limit: int, from_server: bool) -> Reply:
    reply = _reply(outcome, limit, from_server)
    return replace(reply, hashed=reply.digest)


def _reply(outcome: Outcome, limit: int, from_server: bool, *, small: bool = False) -> Reply:
    if outcome.status is not Status.OK:
        return _failure(outcome)
    body = encode(_success(outcome, from_server), small=small)
    if len(body) > limit:
        return refusal(
            "too_large",
            f"{outcome.call.tool} ran, but its result has {len(body):,} bytes and a program takes {limit:,} at most. "
            "Ask for less at a time.",
        )
    return Reply(body)


def _success(outcome: Outcome, from_server: bool) -> JsonObject:
    """Without `value` where the text is the value; the engine then uses the one string for both."""
    text = outcome.full_text or outcome.text
    result: JsonObject = {"ok": True, "text": text}
    if outcome.rewritten:
        result["meta"] = {"rewritten": True}
    if outcome.data is not None:
        result["value"] = outcome.data
    elif from_server and text.lstrip()[:1] in {"{", "["}:
        if _has_long_number(text):
            result["value"] = _parsed(text)
        else:
            result["parse"] = True
    return result


def _failure(outcome: Outcome) -> Reply:
    kind = str(outcome.failure)
    message = outcome.full_text or outcome.text
    error: JsonObject = {"kind": kind, "message": message, "tool": outcome.call.tool}
    if outcome.data is not None:
        error["value"] = outcome.data
    body = encode({"ok": False, "error": error})
    return Reply(body, kind, message)


def _has_long_number(text: str) -> bool:
    """Whether there may be a number in it that JavaScript would round. Looked at in parts, to let others run."""
    return any(
        _LONG_NUMBER.search(text, start, start + _SEARCHED + _OVERLAP)
        for start in range(0, len(text), _SEARCHED)
    )


def _parsed(text: str) -> JsonValue:
    try:
        return jsontext.parse(text)
    except jsontext.JsonError:
        return text
