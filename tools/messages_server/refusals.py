"""Errors as endpoints send them: the envelope, its shapes, and the retry headers."""

from __future__ import annotations

import email.utils
import time
from typing import TYPE_CHECKING

from mcode.model.script import ErrorReply
from tools.messages_server.response import Response, json_response

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

HTML = (
    "<html>\r\n<head><title>{status} {words}</title></head>\r\n<body>\r\n"
    "<center><h1>{status} {words}</h1></center>\r\n<hr><center>gateway</center>\r\n</body>\r\n</html>\r\n"
)
"""A page as a proxy in between sends it."""

_WORDS = {502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Time-out"}


class RefusalError(Exception):
    """A request that the server does not take."""

    def __init__(self, message: str, status: int = 400, kind: str = "") -> None:
        super().__init__(message)
        self.fault = ErrorReply(status=status, type=kind, message=message)


def error_body(fault: ErrorReply, request_id: str) -> JsonObject:
    """The JSON object of an error, in the fault's shape; also the data of an `error` event."""
    error: JsonObject = {"type": fault.kind, "message": fault.message, **fault.details}
    if fault.shape == "llama.cpp":
        return {"error": {"code": fault.status, **error}}
    return {"type": "error", "error": error, **({"request_id": request_id} if request_id else {})}


def error_response(fault: ErrorReply, request_id: str) -> Response:
    """An HTTP response that carries the error."""
    headers = dict(fault.headers)
    if fault.retry_date is not None:
        headers["retry-after"] = email.utils.formatdate(time.time() + fault.retry_date, usegmt=True)
    match fault.shape:
        case "html":
            page = HTML.format(status=fault.status, words=_WORDS.get(fault.status, "Error"))
            return Response(fault.status, {"content-type": "text/html", **headers}, page.encode())
        case "empty":
            return Response(fault.status, headers)
        case _:
            return json_response(error_body(fault, request_id), fault.status, headers)
