"""Carries requests to a Messages endpoint with the anthropic SDK; the only file that imports it.

The SDK makes the connection, the headers and the status errors. It does not retry (`retry` does, visibly), does not
follow redirects, reads no credential of its own, and does not touch the body or the events: both pass as they are.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mcode import jsontext
from mcode.model import failures
from mcode.model.client import Failure, FailureClass, ModelFailure
from mcode.model.custom_headers import custom_headers, is_secret
from mcode.model.listing import items_of, model_info
from mcode.model.patience import Patience
from mcode.model.profiles import HeaderStyle
from mcode.model.reading import is_object, text_field
from mcode.model.sending_hook import hook_for
from mcode.model.sse import BrokenStreamError, EventDecoder
from mcode.threads import in_own_thread

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping

    from anthropic import AsyncAnthropic, AsyncStream

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.model.client import ModelInfo
    from mcode.model.profiles import Profile

CONNECT_LIMIT = 10.0
"""Seconds for a connection to be made."""

LIST_LIMIT = 15.0
"""Seconds for one page of the model list."""

LIST_PAGES = 5
"""Pages of the model list that are read at most."""

CLOSE_LIMIT = 0.5
"""Seconds that the end of a finished stream, or a closing connection, is waited for."""

KEPT_START = 2000
"""Bytes at the start of an answer that are kept to say what it was, should it hold no event."""

PLACEHOLDER = "none"
"""Sent where no credential is set: without one the SDK would look for the user's own elsewhere."""


def preload() -> None:
    """Import the SDK: seconds of CPU, so a thread may do it while other things load.

    The garbage collector rests meanwhile, a fifth of the time saved: what an import makes is there to stay.
    """
    gc.disable()
    try:
        import anthropic

        del anthropic
    finally:
        gc.freeze()
        gc.enable()
    for name in ("anthropic", "httpx2"):
        # ANTHROPIC_LOG would make the SDK write whole requests over the screen.
        logging.getLogger(name).setLevel(logging.WARNING)


class AnthropicClient:
    """A `ModelClient` for one endpoint. Safe to make before the SDK is loaded."""

    def __init__(
        self,
        profile: Profile,
        credential: str | None,
        *,
        source: str = "",
        environment: Mapping[str, str] | None = None,
        on_sent: Callable[[], None] = lambda: None,
    ) -> None:
        """`credential` is the only one ever sent, from `source`; `on_sent` is told of each request that went out."""
        self._on_sent = on_sent
        self._profile = profile
        self._credential = credential
        self._custom = custom_headers(os.environ if environment is None else environment)
        secrets = [value for name, value in self._custom.items() if is_secret(name)]
        self._endpoint = failures.Endpoint(
            name=profile.name,
            url=f"{profile.base_url.split('://')[0]}://{profile.name}/v1/messages",
            credential=source if credential else "",
            secrets=tuple(sorted(filter(None, [credential, *secrets]), key=len, reverse=True)),
        )
        self._client: AsyncAnthropic | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """Host, port and path of the endpoint."""
        return self._profile.name

    @property
    def profile(self) -> Profile:
        """How the endpoint is talked to."""
        return self._profile

    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        """Send the body, byte for byte as `jsontext.dump` writes it, and yield the raw events.

        Ends where the answer ends, whether it was whole or not. Raises ModelFailure, also for an error event.
        """
        stream = await self._send(self._content(body))
        try:
            async with aclosing(self._events(stream)) as events:
                async for event in events:
                    yield event
        finally:
            await _close(stream)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """The endpoint's models, with windows where it tells them. Raises ModelFailure."""
        models: list[ModelInfo] = []
        query: JsonObject = {"limit": 1000}
        for _ in range(LIST_PAGES):
            page = await self._get("/v1/models", query)
            models.extend(info for item in items_of(page) if (info := model_info(item)).id)
            last = text_field(page, "last_id")
            if not last or not is_object(page) or page.get("has_more") is not True:
                break
            query = {"limit": 1000, "after_id": last}
        return tuple(models)

    async def close(self) -> None:
        """Close idle connections; the client can be used again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _send(self, content: bytes) -> AsyncStream[object]:
        """Post the body and wait for the status of the answer."""
        client = await self._open()
        from anthropic import AsyncStream

        limit = self._profile.first_event_limit
        with self._failures(lambda: failures.explain_silence(self._endpoint, limit, started=False)):
            async with asyncio.timeout(limit):
                return await client.post(
                    "/v1/messages",
                    cast_to=object,
                    content=content,
                    stream=True,
                    stream_cls=AsyncStream[object],
                )

    async def _events(self, stream: AsyncStream[object]) -> AsyncGenerator[JsonObject]:
        response = stream.response
        decoder = EventDecoder()
        start = b""
        events = 0
        patience = Patience(self._profile, self._endpoint)
        chunks = response.aiter_bytes()
        while True:
            with self._failures(patience.failure, started=events > 0):
                async with asyncio.timeout(patience.left()):
                    chunk = await anext(chunks, None)
                found = decoder.feed(chunk) if chunk is not None else ()
            if chunk is None:
                break
            if len(start) < KEPT_START:
                start += chunk[:KEPT_START]
            for event in found:
                events += 1
                patience.saw(event)
                if event["type"] == "error":
                    raise ModelFailure(
                        failures.explain_answer(self._endpoint, 200, event, _headers(response))
                    )
                yield event
            if patience.finished:
                await _drain(chunks)
                return
        if not events:
            raise ModelFailure(self._explain_no_stream(response, start))

    async def _get(self, path: str, query: JsonObject) -> JsonValue:
        client = await self._open()
        with self._failures(lambda: failures.explain_silence(self._endpoint, LIST_LIMIT, started=False)):
            async with asyncio.timeout(LIST_LIMIT):
                return await client.get(path, cast_to=object, options={"params": query})

    @contextmanager
    def _failures(self, silence: Callable[[], Failure], *, started: bool = False) -> Generator[None]:
        """Whatever goes wrong inside is a ModelFailure; `silence` says what a time-out means."""
        try:
            yield
        except TimeoutError:
            raise ModelFailure(silence()) from None
        except _sdk_failures() as error:
            raise ModelFailure(self._explain(error, started=started)) from error

    async def _open(self) -> AsyncAnthropic:
        """The SDK's client; made in a thread, since the import and the certificates take their time."""
        async with self._opening:
            if self._client is None:
                if self._credential and not _can_be_sent(self._credential):
                    raise ModelFailure(self._unusable_credential())
                self._client = await in_own_thread(self._make_client)
            return self._client

    def _make_client(self) -> AsyncAnthropic:
        preload()
        import anthropic

        limit = self._profile.first_event_limit
        timeout = anthropic.Timeout(connect=CONNECT_LIMIT, read=limit + 30, write=60.0, pool=CONNECT_LIMIT)
        # No proxy of the environment stands before this machine.
        local = ("http://", "https://", "all://") if self._profile.is_local else ()
        direct: dict[str, None] = dict.fromkeys(local)
        hooks = {"request": [hook_for(self._on_sent)]}
        http = anthropic.DefaultAsyncHttpxClient(
            timeout=timeout, follow_redirects=False, mounts=direct, event_hooks=hooks
        )
        return anthropic.AsyncAnthropic(
            api_key=self._credential or PLACEHOLDER,
            base_url=self._profile.base_url,
            max_retries=0,
            timeout=timeout,
            open_telemetry=False,
            http_client=http,
            default_headers=self._headers(anthropic.Omit()),
        )

    def _headers(self, omit: Any) -> dict[str, str]:
        """Headers that stand above what ANTHROPIC_CUSTOM_HEADERS says: exactly one credential, and the version."""
        headers: dict[str, Any] = {}
        if self._profile.api_version is not None:
            headers["anthropic-version"] = self._profile.api_version
        custom = {"authorization", "x-api-key"} & self._custom.keys()
        if self._credential is None and custom:  # the user's own header is the credential
            headers.update((name, omit) for name in {"authorization", "x-api-key"} - custom)
            return headers
        credential = self._credential or PLACEHOLDER
        style = self._profile.header_style
        headers["Authorization"] = omit if style is HeaderStyle.KEY else f"Bearer {credential}"
        headers["x-api-key"] = omit if style is HeaderStyle.BEARER else credential
        return headers

    def _content(self, body: JsonObject) -> bytes:
        try:
            return jsontext.dump(body).encode()
        except ValueError as error:
            text = (
                f"The request to {self.name} holds what cannot be written as JSON: {error}. Nothing was sent. "
                "Begin anew with /clear."
            )
            raise ModelFailure(Failure(FailureClass.STOP, text, type="request")) from None

    def _unusable_credential(self) -> Failure:
        source = self._endpoint.credential or "the settings"
        text = (
            f"The credential from {source} for {self.name} holds a blank, a line break or another character that "
            "no header can carry. Nothing was sent. Set it again, without quotes and line ends."
        )
        return Failure(FailureClass.STOP, text, type="credential")

    def _explain(self, error: Exception, *, started: bool) -> Failure:
        if isinstance(error, BrokenStreamError):
            text = f"{self.name} sent {error}. {failures.UNCHANGED} Send the message again."
            return Failure(FailureClass.CUT if started else FailureClass.RETRY, text, type="broken_stream")
        import anthropic

        if not isinstance(error, anthropic.APIStatusError):
            return failures.explain_exception(self._endpoint, error, started=started)
        headers = _headers(error.response)
        if 300 <= error.status_code < 400:
            return failures.explain_redirect(self._endpoint, error.status_code, headers.get("location", ""))
        return failures.explain_answer(self._endpoint, error.status_code, error.body, headers)

    def _explain_no_stream(self, response: Any, start: bytes) -> Failure:
        text = start.decode(errors="replace")
        content_type = _headers(response).get("content-type", "")
        try:
            body = jsontext.parse(text)
        except ValueError:
            body = None
        if is_object(body) and body.get("error"):
            return failures.explain_answer(self._endpoint, 200, body, _headers(response))
        return failures.explain_no_stream(self._endpoint, response.status_code, content_type, text)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the end of a finished answer, so that its connection can serve the next request."""
    with suppress(*_sdk_failures()):  # the answer is complete, whatever comes behind it
        async with asyncio.timeout(CLOSE_LIMIT):
            async for _ in chunks:
                pass


async def _close(stream: AsyncStream[object]) -> None:
    """Drop the connection unless the answer was read to its end; never hangs."""
    with suppress(*_sdk_failures()):  # nothing more is wanted of this connection
        async with asyncio.timeout(CLOSE_LIMIT):
            await stream.response.aclose()


def _sdk_failures() -> tuple[type[Exception], ...]:
    """What the SDK and the libraries under it raise for an endpoint, a connection or an answer that fails."""
    import anthropic
    import anyio
    import httpx2

    return (
        anthropic.AnthropicError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.StreamError,
        anyio.BrokenResourceError,
        anyio.ClosedResourceError,
        anyio.EndOfStream,
        OSError,  # time limits and TLS among them
        EOFError,
        ValueError,  # an address, a header or an answer that cannot be read
        RuntimeError,  # a connection that was closed from under the request
    )


def _headers(response: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _can_be_sent(credential: str) -> bool:
    return credential.isascii() and credential.isprintable() and " " not in credential
