"""The offline guide: a scripted model that shows a newcomer around their own directory with real tools.

It is a reply function like any other: it looks at the request, and emits text and tool_use blocks that take
the ordinary road. `history` reads where the conversation stands, `steps` and `intents` answer, `words` has the
fixed texts.
"""

from __future__ import annotations

import re

from mcode.model.client import ModelInfo
from mcode.model.guide import words
from mcode.model.guide.flow import GO_ON, Flow
from mcode.model.guide.history import STEPS, is_first_answer, step_reached
from mcode.model.guide.intents import find_intent, summary
from mcode.model.guide.reading import was_denied
from mcode.model.guide.steps import TITLES, take_step
from mcode.model.guide.words import WELCOME, WELCOME_TO_DEMO
from mcode.model.script import Reply, RequestView, Script, reply
from mcode.model.scripted import ScriptedClient

__all__ = ["MODEL", "WELCOME", "WELCOME_TO_DEMO", "guide_client", "guide_script"]

MODEL = "offline-guide"
"""The model's name, for display."""

PACE = 0.008
"""Seconds between two deltas: fast enough to read along."""

_NEXT = re.compile(
    r"\A\W*(next( step)?|continue|go( on)?|more|ok(ay)?|yes|y|sure|proceed|start|begin|(start )?(the )?steps)\W*\Z",
    re.IGNORECASE,
)
_HELLO = re.compile(
    r"\A\W*(hello|hi|hey|good (morning|afternoon|evening|day))( again| there)?\W*\Z", re.IGNORECASE
)
_AGAIN = re.compile(r"\A\W*(again|repeat|once more|back)\W*\Z", re.IGNORECASE)
_ANEW = re.compile(r"\A\W*(start over|from the (start|beginning)|restart|begin anew)\W*\Z", re.IGNORECASE)


def guide_client(*, pace: float = PACE) -> ScriptedClient:
    """The guide as a model client. `pace`: seconds between two deltas."""
    models = (ModelInfo(MODEL, window=200_000, max_tokens=64_000, display_name="Offline guide (a script)"),)
    return ScriptedClient(guide_script(), name="offline guide", models=models, pace=pace, record=False)


def guide_script() -> Script:
    """The guide as a script: one reply function for every request."""
    return Script(fallback=_answer, name="offline guide")


def _answer(view: RequestView) -> Reply:
    if not view.tool_names:
        # Without tools nobody is being shown around: a summary is what such a request is after.
        return reply(summary(view))
    answer = _known_phrase(view)
    if answer is not None:
        return answer
    if is_first_answer(view) or (view.turns == 1 and view.turn_results):
        return take_step(Flow(view, words.INTRODUCTION), 1)
    return Flow(view, _acknowledgement(view)).say(words.UNKNOWN + words.MENU)


def _known_phrase(view: RequestView) -> Reply | None:
    opening = words.INTRODUCTION if is_first_answer(view) else _acknowledgement(view)
    flow = Flow(view, opening)
    for part in view.user_parts:
        reached = step_reached(view)
        if _NEXT.match(part):
            return take_step(flow, reached + 1) if reached < STEPS else flow.say(words.OVER + words.MENU)
        if _HELLO.match(part) and view.turns > 1:
            return flow.say(_where_we_are(reached))
        if _AGAIN.match(part):
            return take_step(flow, max(reached, 1))
        if _ANEW.match(part):
            return take_step(flow, 1)
        intent = find_intent(part)
        if intent is not None:
            found, match = intent
            return found(flow, match)
    return None


def _where_we_are(reached: int) -> str:
    """What a greeting in the middle of the session is answered with."""
    if reached >= STEPS:
        return f"{words.HELLO_AGAIN} {words.OVER}{words.MENU}"
    if not reached:
        return f"{words.HELLO_AGAIN} The first step is yet to come.{GO_ON}"
    return f"{words.HELLO_AGAIN} We have had step {reached} of {STEPS}, {TITLES[reached - 1]}.{GO_ON}"


def _acknowledgement(view: RequestView) -> str:
    """A kind word where the last turn ended with a call that was denied."""
    denied = [result.tool for result in view.results if view.user_spoke and was_denied(result)]
    return f"(You said no to `{denied[0]}`. Nothing was changed by it, and that is fine.)" if denied else ""
