"""The table of all named faults: what a reply of a script can do wrong on purpose.

A reply names them as `name` or `name:argument`, several where they strike at different stages. A fault that
does not fit its reply (no tool call to cut, no such event) is an error of the script.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from mcode.model.script import ScriptError
from tools.messages_server import answer_faults as answers
from tools.messages_server import byte_faults as octets
from tools.messages_server import event_faults as events

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.messages_server.draft import Draft


class Stage(IntEnum):
    """When a fault is applied; lower numbers first."""

    EVENTS = 1
    ENCODING = 2
    FRAMES = 3
    STEPS = 4
    ANSWER = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """One named fault."""

    name: str
    says: str
    """What happens, in a few words."""
    stage: Stage
    apply: Callable[[Draft, str], None]
    default: str = ""
    """The argument where the script gives none."""
    argument: str = ""
    """What the argument is: `number`, `seconds` or `text`; empty: the fault takes none."""


_EVENTS, _ENCODING, _FRAMES, _STEPS, _ANSWER = Stage
_BROKEN = '{"cmd": "touch a", "x": '
_DOUBLED = '{"a": 1, "a": 2}'
_DEEP = '{"a":' * 120 + "1" + "}" * 120
_FOREVER = "3600"
_OVERLOADED = "overloaded_error"

_ALL = (
    Fault("error-first", "an error event and nothing else", _EVENTS, events.error_first, _OVERLOADED, "text"),
    Fault(
        "error-after-text",
        "an error event after half a text block",
        _EVENTS,
        events.error_after_text,
        _OVERLOADED,
        "text",
    ),
    Fault("no-message-start", "message_start is missing", _EVENTS, events.no_message_start),
    Fault(
        "two-message-starts",
        "a second message_start after the first block",
        _EVENTS,
        events.two_message_starts,
    ),
    Fault("no-ping", "no ping event", _EVENTS, events.no_ping),
    Fault("orphan-delta", "a delta for an index that was never started", _EVENTS, events.orphan_delta),
    Fault("block-never-closed", "the last content_block_stop is missing", _EVENTS, events.block_never_closed),
    Fault(
        "end-before-message-delta",
        "HTTP ends cleanly before message_delta",
        _EVENTS,
        events.end_before_message_delta,
    ),
    Fault(
        "end-before-message-stop",
        "HTTP ends cleanly before message_stop",
        _EVENTS,
        events.end_before_message_stop,
    ),
    Fault("unknown-event", "events of unknown type among the others", _EVENTS, events.unknown_event),
    Fault("unknown-block", "a block of unknown type before the others", _EVENTS, events.unknown_block),
    Fault("unknown-delta", "a delta of unknown type in the first block", _EVENTS, events.unknown_delta),
    Fault(
        "unknown-stop-reason",
        "a new stop reason",
        _EVENTS,
        events.unknown_stop_reason,
        "future_reason",
        "text",
    ),
    Fault("no-stop-reason", "stop_reason is null to the end", _EVENTS, events.no_stop_reason),
    Fault("missing-usage", "no usage anywhere", _EVENTS, events.missing_usage),
    Fault("extra-fields", "an unknown field in every object", _EVENTS, events.extra_fields),
    Fault(
        "large-event", "so many characters more in one event", _EVENTS, events.large_event, "200000", "number"
    ),
    Fault("tool-input", "the first call's input is this text", _EVENTS, events.tool_input, "{", "text"),
    Fault(
        "broken-tool-input",
        "the input breaks off, the block closes",
        _EVENTS,
        events.fixed_tool_input(_BROKEN),
    ),
    Fault("array-tool-input", "the input is an array", _EVENTS, events.fixed_tool_input("[1]")),
    Fault("nan-tool-input", "the input holds NaN", _EVENTS, events.fixed_tool_input('{"a": NaN}')),
    Fault(
        "doubled-key-tool-input",
        "a key stands twice in the input",
        _EVENTS,
        events.fixed_tool_input(_DOUBLED),
    ),
    Fault("deep-tool-input", "the input is nested 120 levels deep", _EVENTS, events.fixed_tool_input(_DEEP)),
    Fault("equal-tool-ids", "all calls have the same id", _EVENTS, events.equal_tool_ids),
    Fault("empty-tool-ids", "all calls have an empty id", _EVENTS, events.empty_tool_ids),
    Fault("crlf", "lines end with CRLF", _ENCODING, octets.crlf),
    Fault("cr", "lines end with CR", _ENCODING, octets.cr),
    Fault("split-data", "data is spread over several data: lines", _ENCODING, octets.split_data),
    Fault("no-event-lines", "no event: lines", _ENCODING, octets.no_event_lines),
    Fault("comments", "a comment line before each event", _ENCODING, octets.comments),
    Fault("not-json", "the data of one event breaks off in the middle", _FRAMES, octets.not_json),
    Fault("done-line", "a last `data: [DONE]`, as other protocols have it", _FRAMES, octets.done_line),
    Fault("one-byte-per-packet", "each byte is a write of its own", _STEPS, octets.one_byte_per_packet),
    Fault("one-write", "the whole stream is one write", _STEPS, octets.one_write),
    Fault("split-character", "a character's bytes come in two writes", _STEPS, octets.split_character),
    Fault("cut-in-character", "the connection closes inside a character", _STEPS, octets.cut_in_character),
    Fault(
        "cut-after-event",
        "the connection closes after event N",
        _STEPS,
        octets.cut_after_event,
        "1",
        "number",
    ),
    Fault(
        "reset-after-event",
        "the connection is reset after event N",
        _STEPS,
        octets.reset_after_event,
        "1",
        "number",
    ),
    Fault(
        "end-after-event", "HTTP ends cleanly after event N", _STEPS, octets.end_after_event, "1", "number"
    ),
    Fault(
        "reset-after-block-start",
        "a reset after the first block's start",
        _STEPS,
        octets.reset_after_block_start,
    ),
    Fault("cut-in-tool-json", "the connection closes inside a call's input", _STEPS, octets.cut_in_tool_json),
    Fault("stall", "silence after the first delta", _STEPS, octets.stall, _FOREVER, "seconds"),
    Fault(
        "stall-with-pings",
        "only pings after the first delta",
        _STEPS,
        octets.stall_with_pings,
        _FOREVER,
        "seconds",
    ),
    Fault("stall-first", "silence after the headers", _STEPS, octets.stall_first, _FOREVER, "seconds"),
    Fault(
        "stall-first-with-pings",
        "only pings after the headers",
        _STEPS,
        octets.stall_first_with_pings,
        _FOREVER,
        "seconds",
    ),
    Fault("html-502", "502 with a proxy's HTML page", _ANSWER, answers.html_502),
    Fault("html-200", "200 with an HTML page", _ANSWER, answers.html_200),
    Fault("empty-503", "503 without a body", _ANSWER, answers.empty_503),
    Fault("llama-overflow", "llama.cpp's 400 for a full context", _ANSWER, answers.llama_overflow),
    Fault("llama-image", "llama.cpp's 500 for an image", _ANSWER, answers.llama_image),
    Fault("json-200", "the message as JSON instead of a stream", _ANSWER, answers.json_200),
    Fault("empty-body", "200, a stream without one byte", _ANSWER, answers.empty_body),
    Fault(
        "close-before-answer", "the connection closes without an answer", _ANSWER, answers.close_before_answer
    ),
    Fault(
        "reset-before-answer",
        "the connection is reset without an answer",
        _ANSWER,
        answers.reset_before_answer,
    ),
    Fault(
        "keep-alive-closed", "closed right after the answer, unannounced", _ANSWER, answers.keep_alive_closed
    ),
    Fault("keep-alive-reset", "reset when the next request comes on it", _ANSWER, answers.keep_alive_reset),
    Fault(
        "refuse-next",
        "new connections are refused for a while after this answer",
        _ANSWER,
        answers.refuse_next,
        "1",
        "seconds",
    ),
)

FAULTS = {fault.name: fault for fault in _ALL}
"""All faults by name."""


def parse_faults(given: tuple[str, ...]) -> list[tuple[Fault, str]]:
    """The faults of a reply with their arguments, in the order of their stages. Raises ScriptError."""
    found = [_parse(text) for text in given]
    return sorted(found, key=lambda pair: pair[0].stage)


def apply_faults(draft: Draft, faults: list[tuple[Fault, str]]) -> None:
    """Take a draft of events through all stages to its response."""
    _apply(draft, faults, Stage.EVENTS)
    _apply(draft, faults, Stage.ENCODING)
    draft.encode()
    _apply(draft, faults, Stage.FRAMES)
    draft.schedule()
    _apply(draft, faults, Stage.STEPS)
    _apply(draft, faults, Stage.ANSWER)


def _apply(draft: Draft, faults: list[tuple[Fault, str]], stage: Stage) -> None:
    for fault, argument in faults:
        if fault.stage is stage:
            try:
                fault.apply(draft, argument)
            except ScriptError as error:
                raise ScriptError(f"fault {fault.name}: {error}") from None


def _parse(text: str) -> tuple[Fault, str]:
    name, colon, argument = text.partition(":")
    fault = FAULTS.get(name)
    if fault is None:
        raise ScriptError(f"the fault {name!r} is unknown; known: {', '.join(sorted(FAULTS))}")
    if colon and not fault.argument:
        raise ScriptError(f"the fault {name} takes no argument, got {argument!r}")
    if fault.argument == "number" and colon and not argument.isdecimal():
        raise ScriptError(f"the fault {name} takes a number, not {argument!r}")
    if fault.argument == "seconds" and colon and not argument.replace(".", "", 1).isdecimal():
        raise ScriptError(f"the fault {name} takes seconds, not {argument!r}")
    return fault, argument if colon else fault.default
