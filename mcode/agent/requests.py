"""The next request of a conversation: its frozen prefix and the messages so far."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import Prefix
from mcode.agent.mode_notes import EXIT, PLAN, mode_note
from mcode.agent.pictures import over_limit
from mcode.agent.reach import unreachable
from mcode.agent.repairs import repaired
from mcode.agent.request_body import NO_IMAGES, Bodies, without_refused
from mcode.catalog.directory import changes, servers_now
from mcode.catalog.found import loaded_by_user
from mcode.catalog.placement import TOOL_SEARCH
from mcode.images.words import described
from mcode.model.request import RequestState, build_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.conversation import Conversation
    from mcode.agent.request_body import Terms
    from mcode.catalog.placement import LoadingWay
    from mcode.catalog.shelf import Shelf
    from mcode.jsontext import JsonObject
    from mcode.model.client import Failure
    from mcode.permissions.decide import Policy
    from mcode.tool import Tool

logger = logging.getLogger(__name__)

THOUGHT = "thought"
"""Subject of a refusal of calls without thinking before them."""

THOUGHT_LEFT_OUT = "thinking, until this turn ends"

LOADING = "loading"
"""Subject of a refusal of `defer_loading` and `tool_reference`."""


class RequestBuilder:
    """Freezes the prefix at the first request and builds every request on it."""

    def __init__(
        self,
        conversation: Conversation,
        shelf: Shelf,
        policy: Policy,
        system: Callable[[], str],
        terms: Terms,
        *,
        on_refused_loading: Callable[[], None],
        effort: Callable[[], str] = str,
    ) -> None:
        """`on_refused_loading` keeps for later sessions that the endpoint does not take references.

        `effort`: how hard the model shall try in the next request; empty for as ever.
        """
        self._conversation = conversation
        self._shelf = shelf
        self._for_user: list[Tool] = []
        """Tools that the user wants to be shown with the next request."""
        self._policy = policy
        self._system = system
        self._extra = terms.extra
        self._on_refused_loading = on_refused_loading
        self._effort = effort
        self._deferred: tuple[tuple[Tool, ...] | None, tuple[Tool, ...]] = (None, ())
        self.made = Bodies(terms.pictures, terms.extra)
        """Makes the bodies of this conversation."""
        self._unthinking = 0
        """The turn whose requests ask for no thinking; 0 for none."""
        self.left_out = ""
        """What the last repair has left out, in words."""
        self.most_tokens = terms.most_tokens
        """Tokens that an answer may have at the very most, where one had to be cut."""
        self.max_tokens = terms.max_tokens
        """Tokens that an answer may have."""
        self.bodies: tuple[JsonObject, ...] = ()
        """The last two bodies, the newer one last; they share what they have in common with the conversation."""
        if conversation.prefix is not None:
            self._freeze(conversation.prefix)

    @property
    def shelf(self) -> Shelf:
        """The session's tools, with where each sits and which are loaded."""
        return self._shelf

    @property
    def prefix(self) -> Prefix:
        """The prefix of the last request, with the definitions that loading has added behind it."""
        return self.made.prefix

    @property
    def messages(self) -> tuple[JsonObject, ...]:
        """The messages of the last request, as they were sent, but for the bytes of images."""
        return self.made.messages

    def next(self, model: str, max_tokens: int | None = None) -> JsonObject:
        """The body of the next request; begins a prefix where none stands or the model has changed."""
        prefix = self._conversation.prefix
        if prefix is None:
            prefix = self._begin(self._fresh(model, "start"))
        elif prefix.model != model:
            prefix = self._begin(replace(prefix, model=model, reason="model"))
        else:
            self._tell_of_servers(prefix)
        self._tell_of_mode()
        if self._effort() != self._conversation.effort:
            self._conversation.append("effort", {"level": self._effort()})
        self._load_for_user(prefix)
        prefix = self._with_fitting_images(prefix)
        body = self._body(prefix, max_tokens or self.max_tokens)
        for problem in unreachable(body, (tool.name for tool in self.deferred()), prefix.way):
            logger.error("a request goes out with something deferred out of reach: %s", problem)
        self.bodies = (*self.bodies[-1:], body)
        return body

    def repair(self, failure: Failure, body: JsonObject) -> JsonObject | None:
        """The body without what the endpoint refuses, where that can be; later requests leave it out as well."""
        self.left_out = failure.subject
        if self.prefix.way == "reference" and self._is_about_loading(failure, body):
            changed = self._without_references(failure, int(body["max_tokens"]))
        elif failure.subject in {"image", NO_IMAGES}:
            changed = self._without_image(failure, int(body["max_tokens"]))
            if changed is None:
                return None
        else:
            changed = repaired(body, failure.subject)
            if changed is not None and failure.subject == THOUGHT:
                self.left_out = THOUGHT_LEFT_OUT
                self._unthinking = self._conversation.turn
                self.bodies = (*self.bodies[:-1], changed)
                return changed
            if changed is None or failure.subject in self._conversation.repairs:
                return None
            self._note_refusal(failure)
        self.bodies = (*self.bodies[:-1], changed)
        return changed

    def begin_anew(self, reason: str) -> None:
        """Let the next request begin a prefix that is decided anew, as where the programs mode was switched."""
        prefix = self._conversation.prefix
        if prefix is not None:
            self.shelf.placements.thaw()
            self._begin(replace(self._fresh(prefix.model, reason), system=prefix.system))

    def begin_again(self, reason: str) -> None:
        """Let the next request begin a prefix with the same tools; instruction files are as they are now."""
        prefix = self._conversation.prefix
        if prefix is not None:
            self._begin(replace(prefix, system=self._system(), reason=reason))

    def aside(self, model: str, system: str, text: str, max_tokens: int) -> JsonObject:
        """The body of a request beside the conversation: one message, no tools."""
        message: JsonObject = {"role": "user", "content": [{"type": "text", "text": text}]}
        state = RequestState(
            model=model,
            system=system,
            tools=(),
            messages=(message,),
            max_tokens=max_tokens,
            extra=self._extra,
            stable=0,
        )
        return without_refused(build_request(state), self._conversation)

    def load_for_user(self, tool: Tool) -> None:
        """Show a deferred tool to the model with the next request, as the user wishes."""
        self._for_user.append(tool)

    def preview(self, model: str) -> Prefix:
        """The prefix as the next request would have it; nothing is frozen by looking."""
        prefix = self._conversation.prefix
        return (
            self.made.with_loaded(self._conversation, prefix)
            if prefix is not None
            else self._fresh(model, "start")
        )

    def definitions(self) -> tuple[JsonObject, ...]:
        """Definitions of the tools that the model sees from the start, sorted by name."""
        return tuple(self.shelf.definitions.of(tool) for tool in self.resident())

    def resident(self) -> tuple[Tool, ...]:
        """Those tools themselves."""
        return self._allowed(self.shelf.placements.resident())

    def deferred(self) -> tuple[Tool, ...]:
        """The tools that the model has to search for, as rules were when the catalogue changed last."""
        deferred = self.shelf.placements.deferred()
        if self._deferred[0] is not deferred:
            self._deferred = deferred, self._allowed(deferred)
        return self._deferred[1]

    def _fresh(self, model: str, reason: str) -> Prefix:
        program_only = self._allowed(self.shelf.placements.program_only())
        return Prefix(
            model=model,
            system=self._system(),
            tools=self.definitions(),
            reason=reason,
            way=self.shelf.way,
            program_only=tuple(tool.name for tool in program_only),
        )

    def _begin(self, prefix: Prefix) -> Prefix:
        body: JsonObject = {
            "model": prefix.model,
            "system": prefix.system,
            "tools": list(prefix.tools),
            "reason": prefix.reason,
            "way": prefix.way,
            "program_only": list(prefix.program_only),
        }
        left_out = self.deferred()
        tokens = sum(self.shelf.definitions.tokens(tool) for tool in left_out)
        body["deferred"] = {"tools": len(left_out), "tokens": tokens}
        if prefix.reason not in {"model", "image"}:  # these leave what was said as it stands
            told = servers_now(self.shelf.servers.statuses(), self.deferred())
            body["servers"] = {name: each.as_object() for name, each in told.items()}
        self._conversation.append("prefix", body)
        begun = self._conversation.prefix or prefix
        self._freeze(begun)
        return begun

    def _freeze(self, prefix: Prefix) -> None:
        self.shelf.way = prefix.way
        self.shelf.placements.freeze((str(tool["name"]) for tool in prefix.tools), prefix.program_only)

    def _body(self, prefix: Prefix, max_tokens: int) -> JsonObject:
        body = self.made.next(self._conversation, prefix, max_tokens)
        return repaired(body, THOUGHT) or body if 0 < self._unthinking == self._conversation.turn else body

    @property
    def takes_images(self) -> bool:
        """False where the endpoint takes none: it is known to, or has said so."""
        return self.made.takes_images(self._conversation)

    def _with_fitting_images(self, prefix: Prefix) -> Prefix:
        """Leave out what is too much of images, which begins a new prefix."""
        notes = (
            over_limit(self.made.pictures.within(self._conversation.history.messages))
            if self.takes_images
            else {}
        )
        if not notes:
            return prefix
        self._conversation.append("images_dropped", {"notes": notes, "reason": "limits"})
        return self._begin(replace(prefix, reason="image"))

    def _without_image(self, failure: Failure, max_tokens: int) -> JsonObject | None:
        """The request without the newest image, or without any where the endpoint takes none; None without one."""
        images = self.made.pictures.within(self._conversation.history.messages) if self.takes_images else []
        if not images:
            return None
        if failure.subject == NO_IMAGES:
            self.left_out = "images: this endpoint takes none"
            self._note_refusal(failure)
        else:
            newest = images[-1]
            self.left_out = described(newest)
            note = f"{described(newest)}: left out, because the endpoint refused it"
            body: JsonObject = {"notes": {str(newest["id"]): note}, "reason": failure.message}
            self._conversation.append("images_dropped", body)
        prefix = self._conversation.prefix or self.prefix
        return self._body(self._begin(replace(prefix, reason="image")), max_tokens)

    def _tell_of_servers(self, prefix: Prefix) -> None:
        """Append what has changed of the servers since the model was told last; what was sent stays as it is."""
        if not any(tool["name"] == TOOL_SEARCH for tool in prefix.tools):
            return
        statuses = self.shelf.servers.statuses()
        now = servers_now(statuses, self.deferred())
        connecting = {each.name for each in statuses if each.state == "connecting"}
        before = self._conversation.told
        # Of a server that is on its way, what it had counts until it is there.
        now |= {name: before[name] for name in connecting & before.keys() if not now[name].tools}
        lines = changes(before, now, {each.name: each.line for each in statuses})
        if lines:
            text = "\n".join(
                ("<servers>", f"For {TOOL_SEARCH}:", *(f"- {line}" for line in lines), "</servers>")
            )
            told = {name: each.as_object() for name, each in now.items()}
            self._conversation.append("context", {"content": text, "servers": told})

    def _tell_of_mode(self) -> None:
        """Append what there is to say of mode plan, with the definition of the tool that leaves it."""
        note = mode_note(self._conversation, str(self._policy.mode))
        if note is not None:
            self._conversation.append("context", note)
            leave = self.shelf.visible(EXIT)
            if leave is not None and note["mode_told"] == PLAN:
                self.load_for_user(leave)

    def _load_for_user(self, prefix: Prefix) -> None:
        """Show what the user has asked for. A reference can stand in results only: there the model has to search."""
        wanted, self._for_user = [tool for tool in self._for_user if self.shelf.is_unloaded(tool)], []
        if not wanted:
            return
        definitions = [self.shelf.definitions.loaded(tool) for tool in wanted]
        self._conversation.append("context", {"content": loaded_by_user(definitions, self.shelf)})
        if prefix.way != "reference":
            self.shelf.seen.load(definitions, "user", turn=self._conversation.turn)

    def _is_about_loading(self, failure: Failure, body: JsonObject) -> bool:
        if failure.subject == LOADING:
            return True
        # Words that name no field are taken to mean the newest ones.
        return failure.subject == "field" and any(tool.get("defer_loading") for tool in body["tools"])

    def _without_references(self, failure: Failure, max_tokens: int) -> JsonObject:
        """The same request in *call* loading, from now on and for this endpoint."""
        prefix = self._conversation.prefix or self.prefix
        self._note_refusal(replace(failure, subject=LOADING))
        self._on_refused_loading()
        way: LoadingWay = "call"
        self.shelf.way = way
        self.shelf.placements.thaw()
        anew = replace(self._fresh(prefix.model, "fallback"), system=prefix.system)
        return self._body(self._begin(anew), max_tokens)

    def _note_refusal(self, failure: Failure) -> None:
        self._conversation.append("fallback", {"subject": failure.subject, "reason": failure.message})

    def _allowed(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        return tuple(tool for tool in tools if self._policy.hides(tool.name) is None)
