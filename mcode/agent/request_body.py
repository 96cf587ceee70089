"""Builds a request body from the state of a conversation: the one way, for new requests and for past ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import Prefix
from mcode.agent.rendering import Rendering, declared
from mcode.agent.repairs import repaired, with_effort
from mcode.model.request import Plain, RequestState, build_request

if TYPE_CHECKING:
    from mcode.agent.conversation import Folded
    from mcode.agent.pictures import Pictures
    from mcode.jsontext import JsonObject

NO_IMAGES = "images"
"""Subject of a refusal of all images; that of one image alone is `image`."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the endpoint takes and gives, whatever the conversation is about."""

    pictures: Pictures
    """Puts images into bodies, or notes in their place."""
    max_tokens: int
    """Tokens that an answer may have."""
    most_tokens: int
    """Tokens that it may have at the very most, where one had to be cut."""
    extra: JsonObject
    """Fields of the endpoint's profile that stand in every request."""


class Bodies:
    """Makes the bodies of one conversation; what was rendered once is the same object in the next one."""

    def __init__(self, pictures: Pictures, extra: JsonObject) -> None:
        """`extra`: fields of the endpoint's profile that stand in every request."""
        self.pictures = pictures
        """Puts images into bodies, or notes in their place."""
        self._extra = extra
        self._rendering = Rendering()
        self._plain = Plain()
        self.prefix = Prefix("", "", ())
        """The prefix of the last body, with the definitions that loading has added behind it."""
        self.messages: tuple[JsonObject, ...] = ()
        """The messages of the last body, but for the bytes of images."""

    def anew(self) -> Bodies:
        """The same for another conversation with this endpoint, or for this one from its beginning."""
        return Bodies(self.pictures, self._extra)

    def next(self, state: Folded, prefix: Prefix, max_tokens: int) -> JsonObject:
        """The body for what the conversation has come to, without what the endpoint refuses."""
        rendered = self._rendering.messages(state.history.messages, state.loads, prefix.way)
        self.messages = rendered if self.takes_images(state) else self.pictures.noted(rendered)
        self.prefix = self.with_loaded(state, prefix)
        request = RequestState(
            model=prefix.model,
            system=prefix.system,
            tools=self.prefix.tools,
            messages=self.pictures.encoded(self.messages),
            max_tokens=max_tokens,
            extra=self._extra,
            stable=min(state.history.answered, len(self.messages)),
        )
        body = build_request(request, self._plain)
        return without_refused(with_effort(body, state.effort) if state.effort else body, state)

    def takes_images(self, state: Folded) -> bool:
        """False where the endpoint takes none: it is known to, or has said so."""
        return self.pictures.accepted and NO_IMAGES not in state.repairs

    def with_loaded(self, state: Folded, prefix: Prefix) -> Prefix:
        """The prefix with what loading adds to the tools; the same object as long as that is the same."""
        known = {str(tool["name"]) for tool in prefix.tools}
        found = declared(state.loads, self.messages, prefix.way)
        added = [each for each in found if each["name"] not in known]
        if not added:
            return prefix
        whole = replace(prefix, tools=(*prefix.tools, *added))
        return self.prefix if self.prefix == whole else whole


def without_refused(body: JsonObject, state: Folded) -> JsonObject:
    """The body without what the endpoint has refused so far."""
    for subject in state.repairs:
        body = repaired(body, subject) or body
    return body
