"""Which model answers, where it is, and with whose key: from the command line, the settings and the environment."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode import files, jsontext
from mcode.config.key import find_credential
from mcode.errors import UsageError
from mcode.model.anthropic import AnthropicClient
from mcode.model.client import ModelFailure
from mcode.model.custom_headers import header_secrets
from mcode.model.profiles import ANTHROPIC, choose_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcode.config.key import Search
    from mcode.config.places import Places
    from mcode.config.settings import Settings
    from mcode.jsontext import JsonObject
    from mcode.model.client import ModelClient, ModelInfo
    from mcode.wiring.options import Options

WINDOW = 200_000
"""Tokens of a model's window where nothing says otherwise."""

ANSWER = 32_000
"""Output tokens of one answer where nothing says otherwise."""

GUIDE = "offline-guide"
"""Name that stands where a model's would; the guide is a script."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Everything about the other side of the conversation."""

    client: ModelClient
    model: str
    window: int = WINDOW
    max_tokens: int = ANSWER
    most_tokens: int = 4 * ANSWER
    """Output tokens that an answer may be given after one was cut."""
    calls_on_end_turn: bool = False
    base_url: str = ""
    """The address under which facts of the endpoint are kept; empty where none may be kept."""
    reference_loading: bool = False
    """True where deferred tools and `tool_reference` blocks may be tried."""
    native_examples: bool = False
    """True where definitions may carry `input_examples`."""
    images: bool = True
    """False where the endpoint is known to take none."""
    extra: JsonObject = field(default_factory=dict)
    credential: str = "none"
    """Where the key came from, for display."""
    secrets: tuple[str, ...] = ()
    """mcode's own keys, to be masked wherever they turn up."""
    guide: bool = False
    """True where the offline guide answers."""
    looked_at: tuple[tuple[str, str], ...] = ()
    """Where a key was looked for in vain, and what was there; empty where one is there, or none is needed."""
    notices: tuple[str, ...] = ()
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a request has gone out; clients without a wire never set it."""
    unnamed: UnnamedModel | None = None
    """Chooses the model behind the first frame, where none is named; `model` is empty until then."""


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model that the endpoint was asked for, with its limits in tokens as far as they are known."""

    name: str
    window: int | None
    max_tokens: int | None
    notice: str


@dataclass(frozen=True, slots=True)
class UnnamedModel:
    """Asks the endpoint once what it offers, and takes the first."""

    client: AnthropicClient
    cache: _ModelCache

    async def choose(self) -> ChosenModel:
        """Raises UsageError where the endpoint does not say, with what to do."""
        advice = "Name one with --model, `model` in ~/.mcode/settings.json, or ANTHROPIC_MODEL"
        try:
            models = await self.client.list_models()
        except ModelFailure as failed:
            said = failed.failure.message
            raise UsageError(
                f"No model is named, and {self.client.name} does not list its own: {said} {advice}."
            ) from failed
        if not models:
            raise UsageError(f"No model is named, and {self.client.name} lists none. {advice}.")
        self.cache.keep(models)
        taken = models[0]
        told = (
            f"No model is named, so {taken.id} was taken, the first that {self.client.name} lists. {advice}."
        )
        return ChosenModel(taken.id, taken.window, taken.max_tokens, told)


async def choose_endpoint(
    options: Options, settings: Settings, places: Places, environment: Mapping[str, str], *, interactive: bool
) -> Endpoint:
    """Find the endpoint and the model. Raises UsageError that says what to set, EndpointError if it is unreachable."""
    if options.demo:
        return _guide(())
    own = {**environment, **settings.own_env}
    base_url = options.base_url or own.get("ANTHROPIC_BASE_URL") or settings.own.base_url
    search = await find_credential(own, settings)
    if search.credential is None and base_url is None:
        if interactive:
            return replace(_guide((_HOW_TO_SET,)), looked_at=search.looked_at)
        raise UsageError(
            f"There is no model to ask. {_how_to_set(search)} `mcode --demo` shows mcode without one."
        )
    profile = choose_profile(
        base_url or ANTHROPIC,
        header_style=settings.own.header_style,
        api_version=settings.own.api_version,
        extra_body=settings.own.extra_body,
    )
    credential = search.credential
    sent = asyncio.Event()
    client = AnthropicClient(
        profile,
        credential.value if credential else None,
        source=credential.source if credential else "",
        environment=environment,
        on_sent=sent.set,
    )
    cache = _ModelCache(places.state / "cache" / "models.json", profile.base_url)
    named = options.model or settings.model or own.get("ANTHROPIC_MODEL")
    named = named or cache.first()
    window, max_tokens = cache.limits_of(named) if named else (None, None)
    endpoint = Endpoint(
        client=client,
        model=named or "",
        window=settings.own.window or window or WINDOW,
        max_tokens=settings.own.max_tokens or min(max_tokens or ANSWER, ANSWER),
        most_tokens=max_tokens or 4 * ANSWER,
        calls_on_end_turn=profile.calls_on_end_turn,
        base_url=profile.base_url,
        reference_loading=profile.reference_loading,
        native_examples=profile.native_examples,
        images=profile.images,
        extra=dict(profile.extra_body),
        credential=credential.source if credential else "none",
        secrets=((credential.value,) if credential else ()) + header_secrets(own),
        notices=_problems(search),
        sent=sent,
        unnamed=None if named else UnnamedModel(client, cache),
    )
    return endpoint if named or interactive else await _with_model(endpoint, settings)


async def _with_model(endpoint: Endpoint, settings: Settings) -> Endpoint:
    """The endpoint with its model, where nobody waits for a first frame. Raises UsageError."""
    try:
        return (await named_endpoint(endpoint, settings))[0]
    except UsageError:
        await endpoint.client.close()
        raise


async def named_endpoint(endpoint: Endpoint, settings: Settings) -> tuple[Endpoint, str]:
    """The endpoint with a model, and what the user should know of the choice. Raises UsageError."""
    if endpoint.unnamed is None:
        return endpoint, ""
    chosen = await endpoint.unnamed.choose()
    own, most = settings.own, chosen.max_tokens
    named = replace(
        endpoint,
        model=chosen.name,
        window=own.window or chosen.window or WINDOW,
        max_tokens=own.max_tokens or min(most or ANSWER, ANSWER),
        most_tokens=most or 4 * ANSWER,
        unnamed=None,
        notices=(*endpoint.notices, chosen.notice),
    )
    return named, chosen.notice


def _guide(notices: tuple[str, ...]) -> Endpoint:
    from mcode.model.guide import guide_client

    return Endpoint(guide_client(), GUIDE, guide=True, notices=notices)


_HOW_TO_SET = (
    "Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL (--base-url) for any endpoint of the Messages protocol, and name "
    "a model with --model."
)


def _how_to_set(search: Search) -> str:
    looked = "; ".join(f"{place}: {state}" for place, state in search.looked_at)
    return f"No key was found ({looked}). {_HOW_TO_SET}"


def _problems(search: Search) -> tuple[str, ...]:
    return tuple(problem.message for problem in search.problems)


class _ModelCache:
    """The model list of an endpoint as it was last seen; without it the limits of a model are not known."""

    def __init__(self, path: Path, base_url: str) -> None:
        self._path = path
        self._base_url = base_url

    def limits_of(self, model: str) -> tuple[int | None, int | None]:
        """Window and output limit in tokens, where the list told."""
        try:
            known = jsontext.parse_object(self._path.read_text("utf-8"))[self._base_url][model]
            return known["window"], known["max_tokens"]
        except (OSError, ValueError, LookupError, TypeError):
            return None, None

    def first(self) -> str | None:
        """The first model of the list as it was last seen; None where the endpoint has not been asked yet."""
        try:
            return next(iter(jsontext.parse_object(self._path.read_text("utf-8"))[self._base_url]), None)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def keep(self, models: Sequence[ModelInfo]) -> None:
        listed = {info.id: {"window": info.window, "max_tokens": info.max_tokens} for info in models}
        files.private_directory(self._path.parent)
        files.update_json(self._path, lambda cached: {**cached, self._base_url: listed})
