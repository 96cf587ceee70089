"""Faults in how the bytes come: line ends, packets, pauses, cuts and resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.script import ScriptError
from tools.messages_server.response import End, Pause, Send

if TYPE_CHECKING:
    from tools.messages_server.draft import Draft

_BETWEEN_HALVES = 0.02
"""Seconds between the two halves of a split character, so that they are read apart."""


def crlf(draft: Draft, _argument: str) -> None:
    draft.encoding.line_end = b"\r\n"


def cr(draft: Draft, _argument: str) -> None:
    draft.encoding.line_end = b"\r"


def split_data(draft: Draft, _argument: str) -> None:
    draft.encoding.split_data = True


def no_event_lines(draft: Draft, _argument: str) -> None:
    draft.encoding.named = False


def comments(draft: Draft, _argument: str) -> None:
    draft.encoding.comment = b": still here"


def not_json(draft: Draft, _argument: str) -> None:
    at = draft.find_kind("content_block_stop")
    frame = draft.frames[at]
    draft.frames[at] = frame[: len(frame) - len(frame) // 4] + draft.encoding.line_end * 2


def done_line(draft: Draft, _argument: str) -> None:
    draft.frames[-1] += b"data: [DONE]" + draft.encoding.line_end * 2


def one_byte_per_packet(draft: Draft, _argument: str) -> None:
    draft.packet = 1


def one_write(draft: Draft, _argument: str) -> None:
    draft.steps = [Send(b"".join(step.data for step in draft.steps if isinstance(step, Send)))]


def split_character(draft: Draft, _argument: str) -> None:
    at, before, after = _halves(draft)
    draft.steps[at : at + 1] = [Send(before), Pause(_BETWEEN_HALVES), Send(after)]


def cut_in_character(draft: Draft, _argument: str) -> None:
    at, before, _ = _halves(draft)
    draft.steps[at:] = [Send(before)]
    draft.end = End.CUT


def cut_after_event(draft: Draft, argument: str) -> None:
    del draft.steps[draft.send_position(int(argument)) :]
    draft.end = End.CUT


def reset_after_event(draft: Draft, argument: str) -> None:
    del draft.steps[draft.send_position(int(argument)) :]
    draft.end = End.RESET


def end_after_event(draft: Draft, argument: str) -> None:
    del draft.steps[draft.send_position(int(argument)) :]


def reset_after_block_start(draft: Draft, _argument: str) -> None:
    reset_after_event(draft, str(draft.find_kind("content_block_start") + 1))


def cut_in_tool_json(draft: Draft, _argument: str) -> None:
    start = draft.find_block("tool_use")
    stop = next(
        at for at in range(start, len(draft.events)) if draft.events[at]["type"] == "content_block_stop"
    )
    if stop - start < 4:
        raise ScriptError("a cut inside tool JSON needs a call with arguments")
    cut_after_event(draft, str((start + stop) // 2 + 1))


def stall(draft: Draft, argument: str) -> None:
    _pause_after_delta(draft, Pause(float(argument)))


def stall_with_pings(draft: Draft, argument: str) -> None:
    _pause_after_delta(draft, Pause(float(argument), _ping(draft)))


def stall_first(draft: Draft, argument: str) -> None:
    draft.steps.insert(0, Pause(float(argument)))


def stall_first_with_pings(draft: Draft, argument: str) -> None:
    draft.steps.insert(0, Pause(float(argument), _ping(draft)))


def _pause_after_delta(draft: Draft, pause: Pause) -> None:
    number = draft.find_kind("content_block_delta") + 1
    draft.steps.insert(draft.send_position(number), pause)


def _ping(draft: Draft) -> bytes:
    return draft.encoding.frame({"type": "ping"})


def _halves(draft: Draft) -> tuple[int, bytes, bytes]:
    """The first write that holds a character of several bytes, cut behind the first of these."""
    for at, step in enumerate(draft.steps):
        if isinstance(step, Send):
            for place, byte in enumerate(step.data):
                if byte >= 0xC0:
                    return at, step.data[: place + 1], step.data[place + 1 :]
    raise ScriptError("the reply has no character of several bytes, which the fault needs")
