"""Failures in the words that hooks know them by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.client import FailureClass
from mcode.model.failures import NEVER_RETRIED, STATUS_OF_TYPE

if TYPE_CHECKING:
    from mcode.model.client import Failure

UNKNOWN = "unknown"
OUTPUT_LIMIT = "max_output_tokens"
INVALID = "invalid_request"

_OF_TYPE = {
    "credential": "authentication_failed",
    "broken_stream": "server_error",
    "empty_stream": "server_error",
}
"""Types of mcode's own, where no status says what is meant."""


def failure_word(failure: Failure) -> str:
    """`rate_limit`, `authentication_failed`, `billing_error`, `invalid_request`, `server_error` or `unknown`."""
    if failure.kind is FailureClass.COMPACT:
        return INVALID
    if failure.type in NEVER_RETRIED:
        return "billing_error"
    if failure.type in _OF_TYPE:
        return _OF_TYPE[failure.type]
    status = failure.status if failure.status not in (None, 200) else STATUS_OF_TYPE.get(failure.type, 0)
    match status:
        case 401 | 403:
            return "authentication_failed"
        case 402:
            return "billing_error"
        case 429:
            return "rate_limit"
        case int() if status >= 500:
            return "server_error"
        case int() if status >= 400:
            return INVALID
        case _:
            return UNKNOWN
