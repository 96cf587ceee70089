"""What an endpoint can do: switches that make the server behave like Anthropic's or like a third party's."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args, get_type_hints

from mcode.model.script import ScriptError


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One switch a field; the defaults are those of Anthropic's own endpoint."""

    defer_loading: Literal["honour", "ignore", "400"] = "honour"
    """`ignore`: deferred tools count as loaded. `400`: the field is refused as an extra input."""
    tool_reference: Literal["expand", "drop", "400"] = "expand"
    """`drop`: the block is ignored. `400`: the block is refused as unknown."""
    system_role: Literal["accept", "400"] = "accept"
    """What becomes of a message with `role: system`."""
    auth: Literal["either", "bearer", "x-api-key", "none"] = "either"
    """Which header must carry a credential; 401 without it."""
    count_tokens: Literal["ok", "404"] = "ok"
    models: Literal["ok", "404"] = "ok"
    use_ids: Literal["toolu", "plain"] = "toolu"
    """`plain`: ids of calls without the usual prefix."""
    forced_call: Literal["direct", "text-first"] = "direct"
    """`text-first`: a text block stands before the call that `tool_choice` forces."""
    cache: Literal["marks", "automatic", "unreported"] = "marks"
    """`marks`: caches up to the last cache mark. `automatic`: caches without marks. `unreported`: like
    `automatic`, but usage has no cache fields and `input_tokens` is the whole input."""
    history: Literal["strict", "lenient"] = "strict"
    """`lenient`: accepts histories that Anthropic refuses, as llama.cpp does."""
    pings: Literal["yes", "no"] = "yes"
    request_ids: Literal["yes", "no"] = "yes"
    window: int | None = None
    """Tokens that input and `max_tokens` may have together; None: no limit."""


LLAMA_CPP = Capabilities(
    defer_loading="ignore",
    tool_reference="drop",
    auth="none",
    use_ids="plain",
    cache="automatic",
    history="lenient",
    pings="no",
    request_ids="no",
)
"""How a llama.cpp server behaves."""


def with_switches(capabilities: Capabilities, switches: list[str]) -> Capabilities:
    """Capabilities with some switches set from `name=value` texts. Raises ScriptError for unknown ones."""
    hints = get_type_hints(Capabilities)
    for switch in switches:
        name, _, value = switch.partition("=")
        if name not in {field.name for field in fields(Capabilities)}:
            raise ScriptError(f"the capability {name!r} is unknown; known: {', '.join(sorted(hints))}")
        if name == "window":
            if not value.isdecimal():
                raise ScriptError(f"window must be a number of tokens, not {value!r}")
            capabilities = replace(capabilities, window=int(value))
        elif value in get_args(hints[name]):
            capabilities = replace(capabilities, **{name: value})
        else:
            allowed = ", ".join(get_args(hints[name]))
            raise ScriptError(f"the capability {name} takes one of {allowed}, not {value!r}")
    return capabilities
