"""Failures in hooks' words: those that are sent again first, which a whole session would wait for."""

from __future__ import annotations

import pytest

from mcode.model.client import Failure, FailureClass
from mcode.model.failure_words import failure_word
from mcode.model.failures import (
    Endpoint,
    explain_answer,
    explain_exception,
    explain_no_stream,
    explain_silence,
)

HERE = Endpoint("endpoint")

ANSWERS = (
    (429, "rate_limit_error", "rate_limit"),
    (200, "rate_limit_error", "rate_limit"),
    (200, "overloaded_error", "server_error"),
    (529, "overloaded_error", "server_error"),
    (503, "", "server_error"),
    (413, "request_too_large", "invalid_request"),
    (422, "", "invalid_request"),
    (307, "", "unknown"),
    (200, "never_heard_of", "unknown"),
)


@pytest.mark.parametrize(("status", "kind", "word"), ANSWERS)
def test_an_error_answer_has_its_word(status: int, kind: str, word: str) -> None:
    body = {"error": {"type": kind, "message": "no"}}
    assert failure_word(explain_answer(HERE, status, body)) == word


def test_failures_without_an_answer_have_theirs() -> None:
    too_long = explain_answer(HERE, 400, {"error": {"message": "prompt is too long"}})
    assert (too_long.kind, failure_word(too_long)) == (FailureClass.COMPACT, "invalid_request")
    assert failure_word(explain_no_stream(HERE, 200, "text/html", "<title>x</title>")) == "server_error"
    assert (
        failure_word(Failure(FailureClass.STOP, "none is set", type="credential")) == "authentication_failed"
    )
    assert failure_word(explain_exception(HERE, ConnectionError("gone"), started=False)) == "unknown"
    assert failure_word(explain_silence(HERE, 9, started=False)) == "unknown"
