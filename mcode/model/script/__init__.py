"""The script of a scripted model: one format for the in-process client, the loopback server and the guide.

`values` says what a script is, `load` reads one from a file, `view` shows a request to it, `player` chooses
the turn and completes the reply, `render` makes stream events of it, `prompt_cache` works out its usage.
"""

from mcode.model.script.load import load_script, parse_script
from mcode.model.script.player import Performance, ScriptPlayer, signature_of
from mcode.model.script.prompt_cache import PromptCache, PromptUsage
from mcode.model.script.render import render_events
from mcode.model.script.values import (
    ErrorReply,
    Replier,
    Reply,
    ResultMatch,
    Script,
    ScriptError,
    Turn,
    When,
    raw_use,
    reply,
    script_of,
    text,
    thinking,
    use,
)
from mcode.model.script.view import RequestView, Result

__all__ = [
    "ErrorReply",
    "Performance",
    "PromptCache",
    "PromptUsage",
    "Replier",
    "Reply",
    "RequestView",
    "Result",
    "ResultMatch",
    "Script",
    "ScriptError",
    "ScriptPlayer",
    "Turn",
    "When",
    "load_script",
    "parse_script",
    "raw_use",
    "render_events",
    "reply",
    "script_of",
    "signature_of",
    "text",
    "thinking",
    "use",
]
