"""The body of a request from what a conversation has come to: the one way, for requests to come and for past ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import Prefix
from mcode.agent.rendering import Rendering, declared
from mcode.agent.repairs import repaired
from mcode.model.request import RequestState, build_request

if TYPE_CHECKING:
    from mcode.agent.conversation import Folded
    from mcode.agent.pictures import Pictures
    from mcode.jsontext import JsonObject

NO_IMAGES = "images"
"""Subject of a refusal of all images; that of one image alone is `image`."""


class Bodies:
    """Makes the bodies of one conversation, one after the other: each knows what the one before had."""

    def __init__(self, pictures: Pictures, extra: JsonObject) -> None:
        """`extra`: fields of the endpoint's profile that stand in every request."""
        self._pictures = pictures
        self._extra = extra
        self._rendering = Rendering()
        self._sent = 0
        """Messages of the last body with the same prefix."""
        self.prefix = Prefix("", "", ())
        """The prefix of the last body, with the definitions that loading has added behind it."""
        self.messages: tuple[JsonObject, ...] = ()
        """The messages of the last body, but for the bytes of images."""

    def anew(self) -> Bodies:
        """The same for another conversation with this endpoint, or for this one from its beginning."""
        return Bodies(self._pictures, self._extra)

    def begin(self) -> None:
        """Say that the next body shares nothing with those before it."""
        self._sent = 0

    def next(self, state: Folded, prefix: Prefix, max_tokens: int) -> JsonObject:
        """The body for what the conversation has come to, without what the endpoint refuses."""
        stable = self._sent
        self.pass_over(state, prefix)
        request = RequestState(
            model=prefix.model,
            system=prefix.system,
            tools=self.prefix.tools,
            messages=self._pictures.encoded(self.messages),
            max_tokens=max_tokens,
            extra=self._extra,
            stable=min(stable, len(self.messages)),
        )
        return without_refused(build_request(request), state)

    def pass_over(self, state: Folded, prefix: Prefix) -> None:
        """Take note of a request without making its body."""
        rendered = self._rendering.messages(state.history.messages, state.loads, prefix.way)
        self.messages = rendered if self.takes_images(state) else self._pictures.noted(rendered)
        self.prefix = self.with_loaded(state, prefix)
        self._sent = len(self.messages)

    def takes_images(self, state: Folded) -> bool:
        """False where the endpoint takes none: it is known to, or has said so."""
        return self._pictures.accepted and NO_IMAGES not in state.repairs

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
