"""Faults that replace the whole answer, or strike the connection around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.script import ErrorReply
from tools.messages_server.draft import STREAM_HEADERS
from tools.messages_server.refusals import HTML, error_response
from tools.messages_server.response import End, Response, json_response

if TYPE_CHECKING:
    from tools.messages_server.draft import Draft


def html_502(draft: Draft, _argument: str) -> None:
    draft.response = error_response(ErrorReply(502, shape="html"), "")


def html_200(draft: Draft, _argument: str) -> None:
    page = HTML.format(status=200, words="Welcome").encode()
    draft.response = Response(200, {"content-type": "text/html"}, page)


def empty_503(draft: Draft, _argument: str) -> None:
    draft.response = error_response(ErrorReply(503, shape="empty"), "")


def llama_overflow(draft: Draft, _argument: str) -> None:
    fault = ErrorReply(
        400,
        "exceed_context_size_error",
        "the request exceeds the available context size, try increasing it",
        shape="llama.cpp",
        details={"n_prompt_tokens": 9_000, "n_ctx": 8_192},
    )
    draft.response = error_response(fault, "")


def llama_image(draft: Draft, _argument: str) -> None:
    fault = ErrorReply(500, "server_error", "image input is not supported", shape="llama.cpp")
    draft.response = error_response(fault, "")


def json_200(draft: Draft, _argument: str) -> None:
    draft.response = json_response(draft.message)


def empty_body(draft: Draft, _argument: str) -> None:
    draft.response = Response(200, dict(STREAM_HEADERS), steps=())


def close_before_answer(draft: Draft, _argument: str) -> None:
    draft.headless, draft.end = True, End.CUT


def reset_before_answer(draft: Draft, _argument: str) -> None:
    draft.headless, draft.end = True, End.RESET


def keep_alive_closed(draft: Draft, _argument: str) -> None:
    draft.end = End.CLOSE


def keep_alive_reset(draft: Draft, _argument: str) -> None:
    draft.end = End.RESET_NEXT


def refuse_next(draft: Draft, argument: str) -> None:
    draft.deaf = float(argument)
    draft.end = End.CLOSE
