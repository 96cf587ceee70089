"""Says what a failure means: its class, and a text that a person can act on.

Endpoints name the same trouble in many ways, so the status, the error's type, its words and the exception's
class are all looked at. Nothing here knows the SDK: exceptions are told apart by the names of their classes,
which hold for whatever HTTP library stands beneath.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from mcode.model.client import Failure, FailureClass
from mcode.model.reading import is_object, is_whole, text_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcode.jsontext import JsonValue

DETAIL_LIMIT = 300
"""Characters of an endpoint's own words that a text repeats."""

STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error inside a stream, which has the status 200, would have been outside."""

NEVER_RETRIED = frozenset({"billing_error", "insufficient_quota", "exceeded_current_quota_error"})
"""Types that some endpoints send with status 429 although waiting does not help."""

TOO_LONG = re.compile(
    r"(?i)prompt is too long|input is too long|exceeds? (the )?(available |maximum )?context"
    r"|context_length_exceeded|maximum context length|context (length|window|size)[^.]{0,60}exceed"
    r"|exceed context limit|reduce the length of the (messages|input|prompt)"
)

UNREADABLE = (
    ("loading", re.compile(r"(?i)tool_reference|tool_addition|defer_loading")),
    ("examples", re.compile(r"(?i)input_examples")),
    ("calls", re.compile(r"(?i)tool_use[^.]{0,120}tool_result|tool_result[^.]{0,120}tool_use|tool_use_id")),
    ("calls", re.compile(r"(?i)roles must alternate|content blocks must (be non-empty|contain non-white)")),
    ("thought", re.compile(r"(?i)expected .thinking")),
    ("thinking", re.compile(r"(?i)invalid .{0,20}signature|thinking\W.{0,60}block")),
    ("image", re.compile(r"(?i)\bimages?\b|image_url|media_type|mmproj|multimodal")),
    ("effort", re.compile(r"(?i)output_config|\beffort\b")),
    ("field", re.compile(r"(?i)cache_control")),
    ("field", re.compile(r"(?i)extra inputs are not|un(known|recognized|supported|expected) (field|param)")),
)
"""What an endpoint does not take, by its words; the first that matches counts."""

IMAGE_REFUSED = re.compile(r"(?i)image input is not supported|mmproj|does not support images?")
"""Words of a 500 that no waiting mends."""

UNCHANGED = "Nothing was changed and the conversation is kept."

CHECK = "Check that it runs, the network, and the base URL."

NEXT = {
    400: "Change what the endpoint names, or choose another model with /model.",
    401: "Set a valid key or token and start again.",
    402: "Look at the plan and the balance with the provider, then send the message again.",
    403: "Look at what this credential may use, or choose another model with /model.",
    404: "Check the model's name (/model) and the base URL.",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a request went, as texts speak of it."""

    name: str
    """Host, port and path, without user information and query."""
    url: str = ""
    """The whole address of the request, likewise."""
    credential: str = ""
    """Where the credential came from, such as ANTHROPIC_API_KEY; empty where none is set."""
    secrets: tuple[str, ...] = ()
    """Values that no text may hold."""

    def clean(self, text: str) -> str:
        """Foreign words on one line: without secrets and control characters, cut to DETAIL_LIMIT."""
        for secret in self.secrets:
            text = text.replace(secret, "[secret]")
        text = " ".join("".join(char if char.isprintable() else " " for char in text[:4000]).split())
        return text if len(text) <= DETAIL_LIMIT else f"{text[:DETAIL_LIMIT]}…"


def explain_answer(
    endpoint: Endpoint,
    status: int,
    body: JsonValue,
    headers: Mapping[str, str] | None = None,
) -> Failure:
    """What an error answer means.

    `body` is its JSON, or its text; `headers` have lower-case names. An error event inside a stream is passed
    with status 200.
    """
    headers = headers or {}
    error_type, words = _read_error(body)
    meant = status if status != 200 else _meant_status(error_type, body)
    subject = _subject(meant, words)
    kind = _kind(meant, error_type, words, subject, headers.get("x-should-retry", ""))
    detail = endpoint.clean(words) or "it gave no reason"
    said = f"{status} {error_type}".strip() if status != 200 else (error_type or "error")
    text = f"{endpoint.name} {_verb(meant)} ({endpoint.clean(said)}): {detail.rstrip('.')}. {UNCHANGED}"
    return Failure(
        kind=kind,
        message=f"{text} {_advice(endpoint, kind, meant, words, headers)}{_named_request(endpoint, body, headers)}",
        status=status,
        type=endpoint.clean(error_type),
        retry_after=_retry_after(headers),
        subject=subject if kind is FailureClass.REPAIR else "",
    )


def explain_exception(endpoint: Endpoint, error: BaseException, *, started: bool) -> Failure:
    """What an exception of the SDK or of its HTTP library means; `started` where events had come already."""
    chain = tuple(_chain(error))
    names = {cls.__name__ for link in chain for cls in type(link).__mro__}
    reason = endpoint.clean(_reason(chain))
    if "CERTIFICATE_VERIFY_FAILED" in reason or "SSLCertVerificationError" in names:
        advice = "Check the address; for a private authority, set SSL_CERT_FILE to its certificates."
        text = f"{endpoint.name} could not prove who it is: {reason}. Nothing was sent. {advice}"
        return Failure(FailureClass.STOP, text, type="certificate")
    if names & {"UnsupportedProtocol", "InvalidURL", "LocalProtocolError"}:
        advice = "Check the base URL, the credential and ANTHROPIC_CUSTOM_HEADERS."
        text = f"The request to {endpoint.name} could not be made: {reason}. Nothing was sent. {advice}"
        return Failure(FailureClass.STOP, text, type="request")
    if started and names & {"TransportError", "OSError", "EndOfStream", "BrokenStreamError", "DecodingError"}:
        text = f"The answer of {endpoint.name} broke off: {reason}. {UNCHANGED} Send the message again."
        return Failure(FailureClass.CUT, text, type="connection")
    if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
        text = f"{endpoint.name} could not be reached in time: {reason}. {UNCHANGED} {CHECK}"
        return Failure(FailureClass.RETRY, text, type="timeout")
    if names & {"TransportError", "APIConnectionError", "OSError", "BrokenStreamError", "DecodingError"}:
        text = f"{endpoint.name} could not be reached: {reason}. {UNCHANGED} {CHECK}"
        return Failure(FailureClass.RETRY, text, type="connection")
    name = type(error).__name__
    text = (
        f"The request to {endpoint.name} failed unexpectedly ({name}): {reason}. {UNCHANGED} Send it again."
    )
    return Failure(FailureClass.STOP, text, type=name)


def explain_silence(endpoint: Endpoint, seconds: float, *, started: bool, total: bool = False) -> Failure:
    """The endpoint was silent, or in all busy, for longer than the limit of so many seconds."""
    kind = FailureClass.CUT if started else FailureClass.RETRY
    did = (
        "had not finished after"
        if total
        else "was silent for"
        if started
        else "did not begin to answer within"
    )
    advice = "Send the message again; if it happens often, ask for less at once."
    text = f"{endpoint.name} {did} {spoken(seconds)}, the limit for it. {UNCHANGED} {advice}"
    return Failure(kind, text, type="timeout")


def explain_no_stream(endpoint: Endpoint, status: int, content_type: str, body: str) -> Failure:
    """An answer of status 200 that held no event; `body` is its beginning."""
    seen = endpoint.clean(_page_title(body) or body)
    what = (
        f"sent {content_type or 'no content type'} without any event"
        if body.strip()
        else "sent an empty answer"
    )
    detail = f": {seen}" if seen else ""
    advice = "Check that the base URL belongs to an endpoint of the Messages protocol that streams."
    text = f"{endpoint.name} {what}{detail}. {UNCHANGED} {advice}"
    return Failure(FailureClass.RETRY, text, status=status, type="empty_stream")


def explain_redirect(endpoint: Endpoint, status: int, target: str) -> Failure:
    """Redirects are not followed: they would carry the credential to another address."""
    where = endpoint.clean(target) or "it does not say which"
    text = (
        f"{endpoint.name} points to another address ({status}): {where}. "
        f"The credential goes only to the configured one. {UNCHANGED} "
        "If you trust that address, make it the base URL."
    )
    return Failure(FailureClass.STOP, text, status=status, type="redirect")


def spoken(seconds: float) -> str:
    """A duration in words: `45 s`, `3 min`, `24 h`."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _kind(status: int | None, error_type: str, words: str, subject: str, should_retry: str) -> FailureClass:
    fits_not = status == 413 or error_type in ("request_too_large", "exceed_context_size_error")
    if fits_not or (status not in (401, 402, 403, 404, 429, 529) and TOO_LONG.search(words)):
        return FailureClass.COMPACT
    if subject:
        return FailureClass.REPAIR
    if should_retry in ("true", "false"):
        return FailureClass.RETRY if should_retry == "true" else FailureClass.STOP
    if error_type in NEVER_RETRIED:
        return FailureClass.STOP
    if status is None or status in (408, 409, 425, 429) or status >= 500:
        return FailureClass.RETRY
    return FailureClass.STOP


def _subject(status: int | None, words: str) -> str:
    if status in (400, 415, 422):
        subject = next((subject for subject, pattern in UNREADABLE if pattern.search(words)), "")
        return "images" if subject == "image" and IMAGE_REFUSED.search(words) else subject
    return "images" if status is not None and status >= 500 and IMAGE_REFUSED.search(words) else ""


def _verb(status: int | None) -> str:
    match status:
        case 401:
            return "refused the credential"
        case 402:
            return "asks for payment"
        case 403:
            return "does not allow this"
        case 404:
            return "does not know the model or the address"
        case 413:
            return "found the request too large"
        case 429:
            return "limits how often it may be asked"
        case 529:
            return "is overloaded"
        case int() if 400 <= status < 500 and status not in (408, 409):
            return "refused the request"
        case _:
            return "failed"


def _advice(
    endpoint: Endpoint, kind: FailureClass, status: int | None, words: str, headers: Mapping[str, str]
) -> str:
    if kind is FailureClass.COMPACT:
        return "The conversation does not fit: begin anew with /clear."
    if kind is FailureClass.RETRY:
        return "Send the message again in a while."
    if status == 401:
        source = f"It came from {endpoint.credential}." if endpoint.credential else "No credential is set."
        names = (
            "ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or `apiKeyHelper` in your settings (/config shows them)"
        )
        return f"{source} {NEXT[401]} It is read from {names}."
    if status == 404 and endpoint.url:
        return f"The request went to {endpoint.url}. {NEXT[404]}"
    if "max_tokens" in words:
        return "Set a smaller `maxTokens` for this model, or choose another model with /model."
    wait = _retry_after(headers)
    if wait:
        return f"It asks to wait {spoken(wait)}."
    return NEXT.get(status or 0, NEXT[400])


def _read_error(body: JsonValue) -> tuple[str, str]:
    """Type and words of an error body: Anthropic's shape, OpenAI's, llama.cpp's, FastAPI's, or a page."""
    if isinstance(body, str):
        return "", _page_title(body) or body
    if not is_object(body):
        return "", ""
    error = body.get("error")
    if is_object(error):
        kind = text_field(error, "type") or text_field(error, "code")
        return kind, text_field(error, "message") or text_field(error, "detail") or text_field(
            body, "message"
        )
    if isinstance(error, str):
        return "", text_field(body, "message") or error
    detail = body.get("detail")
    words = text_field(body, "message") or text_field(body, "detail") or (str(detail) if detail else "")
    return "", words


def _meant_status(error_type: str, body: JsonValue) -> int | None:
    error = body.get("error") if is_object(body) else None
    code = error.get("code") if is_object(error) else None
    if is_whole(code) and 400 <= code < 600:
        return code
    return STATUS_OF_TYPE.get(error_type)


def _page_title(text: str) -> str:
    """The title of an HTML page, empty for anything else."""
    if "<" not in text[:200]:
        return ""
    found = re.search(r"<(title|h1)[^>]*>([^<]{1,200})<", text[:20_000], re.IGNORECASE)
    return f"an HTML page, `{found[2].strip()}`" if found else "an HTML page"


def _named_request(endpoint: Endpoint, body: JsonValue, headers: Mapping[str, str]) -> str:
    """The provider's own number of the request, for whoever asks its support; empty where it gave none."""
    found = headers.get("request-id") or headers.get("x-request-id") or text_field(body, "request_id")
    number = endpoint.clean(found[:200])
    return f" Request id for its support: {number}." if number else ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of `retry-after-ms`, or of `retry-after` as seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(moment.timestamp() - time.time(), 0.0)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _reason(chain: tuple[BaseException, ...]) -> str:
    """The plainest words of a chain of exceptions: those of the system, else the deepest that has any."""
    for link in chain:
        if isinstance(link, OSError) and link.strerror:
            return link.strerror
    words = next((str(link) for link in reversed(chain) if str(link).strip()), "")
    return words.strip().rstrip(".") or type(chain[0]).__name__
