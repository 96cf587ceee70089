"""What failures mean, and what they tell the user."""

from __future__ import annotations

import email.utils
import time
from typing import TYPE_CHECKING

import pytest

from mcode.model.client import Failure, FailureClass
from mcode.model.failures import Endpoint, explain_answer, explain_exception, explain_no_stream, spoken

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

KEY = "sk-" + "test-" + "0123456789abcdef"
HERE = Endpoint("api.example.org", "https://api.example.org/v1/messages", "ANTHROPIC_API_KEY", (KEY,))

RETRY, COMPACT, REPAIR, STOP, CUT = FailureClass


def body(kind: str, message: str = "words") -> JsonObject:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def llama(code: int, kind: str, message: str, **more: JsonValue) -> JsonObject:
    return {"error": {"code": code, "message": message, "type": kind, **more}}


@pytest.mark.parametrize(
    ("status", "given", "kind"),
    [
        (408, body("timeout_error"), RETRY),
        (409, body("conflict_error"), RETRY),
        (429, body("rate_limit_error"), RETRY),
        (429, body("rate_limit_error", "prompt is too long for your rate limit"), RETRY),
        (500, body("api_error"), RETRY),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", RETRY),
        (503, "", RETRY),
        (504, body("timeout_error"), RETRY),
        (529, body("overloaded_error"), RETRY),
        (500, llama(500, "server_error", "image input is not supported - hint: mmproj"), REPAIR),
        (413, body("request_too_large"), COMPACT),
        (413, "<html><h1>413 Request Entity Too Large</h1></html>", COMPACT),
        (400, body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), COMPACT),
        (400, llama(400, "exceed_context_size_error", "the request exceeds", n_ctx=4096), COMPACT),
        (400, {"error": {"message": "maximum context length is 8192 tokens", "code": "x"}}, COMPACT),
        (400, {"error": {"code": "context_length_exceeded", "message": "context_length_exceeded"}}, COMPACT),
        (400, body("invalid_request_error", "tools.0.defer_loading: Extra inputs are not permitted"), REPAIR),
        (422, {"detail": [{"msg": "unexpected field tool_addition"}]}, REPAIR),
        (400, body("invalid_request_error", "messages.3: image exceeds 5 MB maximum"), REPAIR),
        (
            400,
            body("invalid_request_error", "`tool_use` ids were found without `tool_result` blocks"),
            REPAIR,
        ),
        (400, body("invalid_request_error", "messages.1.content.0: Invalid `signature` in block"), REPAIR),
        (400, body("invalid_request_error", "something else"), STOP),
        (401, body("authentication_error"), STOP),
        (402, body("billing_error"), STOP),
        (403, body("permission_error", "prompt is too long"), STOP),
        (404, body("not_found_error", "model: nope"), STOP),
        (404, "404 page not found", STOP),
        (418, "", STOP),
        (429, {"error": {"type": "insufficient_quota", "message": "quota"}}, STOP),
        (200, body("overloaded_error"), RETRY),
        (200, body("rate_limit_error"), RETRY),
        (200, body("api_error"), RETRY),
        (200, body("something_new"), RETRY),
        (200, body("authentication_error"), STOP),
        (200, body("invalid_request_error"), STOP),
        (200, body("invalid_request_error", "prompt is too long"), COMPACT),
        (200, llama(500, "server_error", "slot failed"), RETRY),
        (200, llama(400, "exceed_context_size_error", "too much"), COMPACT),
    ],
)
def test_s_06_the_class_follows_status_type_and_words(
    status: int, given: JsonValue, kind: FailureClass
) -> None:
    failure = explain_answer(HERE, status, given)
    assert failure.kind is kind
    assert failure.status == status
    assert (failure.subject != "") is (kind is REPAIR)


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        ("tool_result without a tool_use", "calls"),
        ("messages: roles must alternate", "calls"),
        ("text content blocks must be non-empty", "calls"),
        ("Expected `thinking` or `redacted_thinking`, but found `text`", "thought"),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", "thinking"),
        ("Could not process image", "image"),
        ("cache_control: Extra inputs are not permitted", "field"),
        ("unknown field `output_config`", "effort"),
    ],
)
def test_s_06_a_repair_knows_what_was_refused(words: str, subject: str) -> None:
    assert explain_answer(HERE, 400, body("invalid_request_error", words)).subject == subject


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"x-should-retry": "true"}, RETRY),
        ({"x-should-retry": "false"}, STOP),
        ({"x-should-retry": "?"}, RETRY),
    ],
)
def test_s_06_an_endpoint_that_says_whether_to_retry_is_believed(
    headers: dict[str, str], kind: FailureClass
) -> None:
    assert explain_answer(HERE, 500, body("api_error"), headers).kind is kind


def test_s_06_x_should_retry_does_not_hide_a_conversation_that_is_too_long() -> None:
    assert explain_answer(HERE, 413, "", {"x-should-retry": "true"}).kind is COMPACT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_s_06_retry_after_is_read_as_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert explain_answer(HERE, 429, body("rate_limit_error"), headers).retry_after == seconds


def test_s_06_retry_after_may_be_a_date() -> None:
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    asked = explain_answer(HERE, 429, body("rate_limit_error"), {"retry-after": date}).retry_after
    assert asked is not None
    assert 27 <= asked <= 31


def check_text(failure: Failure) -> None:
    """What every text must hold, and what none may."""
    assert "api.example.org" in failure.message
    assert "Nothing was changed" in failure.message or "Nothing was sent" in failure.message
    assert failure.message.endswith((".", "/clear.", "/model."))
    assert KEY not in failure.message
    assert failure.message.isprintable()
    assert len(failure.message) < 1200


@pytest.mark.parametrize(
    "status", [200, 301, 400, 401, 402, 403, 404, 408, 413, 418, 422, 429, 500, 502, 529]
)
@pytest.mark.parametrize(
    "given",
    [
        "",
        "\x1b[31mred\x1b[0m\n\nlines",
        f"Incorrect key {KEY} given",
        body("x\x07y", f"bad\n\x1b]0;title\x07 {KEY}"),
        {"error": f"plain {KEY}"},
        {"error": None},
        {"message": "only this"},
        {"detail": [{"loc": ["body"], "msg": "field required"}]},
        [1, 2],
        None,
        "<!doctype html><html><title>Just a moment…</title>" + "x" * 10_000,
        body("long", "w" * 10_000),
    ],
)
def test_every_answer_gives_a_text_to_act_on_without_secrets_or_control_characters(
    status: int, given: JsonValue
) -> None:
    check_text(explain_answer(HERE, status, given))


def test_401_says_where_the_credential_came_from_and_how_to_set_one() -> None:
    text = explain_answer(HERE, 401, body("authentication_error", "invalid x-api-key")).message
    assert "401 authentication_error" in text
    assert "invalid x-api-key" in text
    assert "came from ANTHROPIC_API_KEY" in text
    assert "apiKeyHelper" in text
    assert "No credential is set" in explain_answer(Endpoint("h"), 401, None).message


def test_404_says_where_the_request_went() -> None:
    text = explain_answer(HERE, 404, "").message
    assert "https://api.example.org/v1/messages" in text
    assert "/model" in text


def test_the_request_id_is_told_for_the_providers_support() -> None:
    from_header = explain_answer(HERE, 500, body("api_error"), {"request-id": "req_h"}).message
    assert from_header.endswith(" Request id for its support: req_h.")
    assert explain_answer(HERE, 500, body("api_error")).message.endswith("support: req_1.")
    assert "Request id" not in explain_answer(HERE, 500, "").message


def test_an_answer_without_events_says_what_it_was_instead() -> None:
    page = explain_no_stream(HERE, 200, "text/html", "<html><title>Sign in</title></html>")
    empty = explain_no_stream(HERE, 200, "text/event-stream", "")
    assert page.kind is empty.kind is RETRY
    assert "`Sign in`" in page.message
    assert "an empty answer" in empty.message
    check_text(page)
    check_text(empty)


class TransportError(Exception):
    """Named as HTTP libraries name theirs."""


class ReadError(TransportError):
    pass


class LocalProtocolError(TransportError):
    pass


@pytest.mark.parametrize(
    ("error", "started", "kind", "said"),
    [
        (ConnectionRefusedError(111, "Connection refused"), False, RETRY, "Connection refused"),
        (ConnectionResetError(104, "Connection reset by peer"), True, CUT, "broke off"),
        (ReadError("gone"), True, CUT, "gone"),
        (ReadError(""), False, RETRY, "ReadError"),
        (TimeoutError(), False, RETRY, "in time"),
        (LocalProtocolError(f"Illegal header value {KEY!r}"), False, STOP, "could not be made"),
        (Exception("SSL: CERTIFICATE_VERIFY_FAILED self-signed"), False, STOP, "SSL_CERT_FILE"),
        (KeyError("bug"), True, STOP, "KeyError"),
    ],
)
def test_s_06_exceptions_are_told_apart_by_the_names_of_their_classes(
    error: Exception, started: bool, kind: FailureClass, said: str
) -> None:
    failure = explain_exception(HERE, error, started=started)
    assert failure.kind is kind
    assert said in failure.message
    assert KEY not in failure.message


def test_s_06_the_cause_beneath_a_wrapper_is_what_is_told() -> None:
    error = TransportError("Connection error.")
    error.__cause__ = OSError(-2, "Name or service not known")
    failure = explain_exception(HERE, error, started=False)
    assert "Name or service not known" in failure.message
    assert failure.kind is RETRY


def test_durations_are_spoken_briefly() -> None:
    assert [spoken(seconds) for seconds in (1, 2.5, 60, 180, 86400)] == [
        "1 s",
        "2.5 s",
        "60 s",
        "3 min",
        "24 h",
    ]
