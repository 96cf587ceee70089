"""What another program sends on standard input: a text, or messages as one JSON object a line."""

from __future__ import annotations

import asyncio
import base64
import os
import stat
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.errors import UsageError
from mcode.model.reading import text_field

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    Keep = Callable[[bytes], tuple[str, str]]

INPUT_LIMIT = 10 * 1024 * 1024
"""Bytes of standard input that are appended to the message, and bytes of one line of messages."""

PATIENCE = 3.0
"""Seconds after which a pipe that says nothing is taken for one that mcode only happened to inherit."""

_CHUNK = 64 * 1024

EXPECTED = '{"type":"user","message":{"role":"user","content":"…"}}'


async def read_text(descriptor: int, *, patient: bool) -> str | None:
    """Everything up to the end, as text. None: a pipe said nothing for PATIENCE seconds, and we are not `patient`.

    Raises UsageError where it is over INPUT_LIMIT or cannot be read.
    """
    may_wait = patient or not _is_pipe(descriptor)
    try:
        async with asyncio.timeout(None if may_wait else PATIENCE):
            chunk = await _read(descriptor)
    except TimeoutError:
        return None
    data = bytearray(chunk)
    while chunk:
        if len(data) > INPUT_LIMIT:
            raise _too_long("Standard input is")
        chunk = await _read(descriptor)
        data += chunk
    return data.decode("utf-8", "replace").strip()


async def read_messages(descriptor: int, keep: Keep) -> AsyncIterator[str]:
    """The text of each line that is not blank, as it arrives; raises UsageError at one that is no message.

    `keep` takes in an image and gives the label that stands for it in a message, and what it is.
    """
    number = 0
    async for line in _lines(descriptor):
        number += 1
        if line.strip():
            yield read_message(line, number, keep)


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    held = bytearray()
    while chunk := await _read(descriptor):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield bytes(held) + line
            held.clear()
        held += rest
        if len(held) > INPUT_LIMIT:
            raise _too_long("A line of standard input is")
    if held:
        yield bytes(held)


async def _read(descriptor: int) -> bytes:
    """What has arrived, as soon as something has; empty at the end. No thread waits, so a signal can end it."""
    loop = asyncio.get_running_loop()
    try:
        while True:
            ready: asyncio.Future[None] = loop.create_future()
            try:
                loop.add_reader(descriptor, _wake, ready)
            except OSError:
                # Files and most devices cannot be watched; they do not make anyone wait either.
                return await asyncio.to_thread(os.read, descriptor, _CHUNK)
            try:
                await ready
            finally:
                loop.remove_reader(descriptor)
            try:
                return os.read(descriptor, _CHUNK)
            except BlockingIOError:
                continue  # woken for nothing, on a descriptor that was handed to us non-blocking
    except OSError as error:
        raise UsageError(
            f"Standard input cannot be read: {error.strerror}. Nothing of it was sent; `</dev/null` goes without."
        ) from None


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _too_long(what: str) -> UsageError:
    return UsageError(
        f"{what} over the limit of {INPUT_LIMIT} bytes. It was not sent; put it in a file and name the file in "
        "the message."
    )


def read_message(line: bytes, number: int, keep: Keep) -> str:
    """The text of one line; raises UsageError that names the line and what it should be."""
    try:
        body = jsontext.parse_object(line.decode("utf-8"))
    except (UnicodeDecodeError, jsontext.JsonError) as error:
        raise UsageError(
            f"Line {number} of the input is not JSON: {error}. It was not sent. Expected {EXPECTED}."
        ) from None
    message = body.get("message")
    content: object = (
        cast("jsontext.JsonObject", message).get("content") if isinstance(message, dict) else None
    )
    text = _text_of(content, keep)
    if body.get("type") != "user" or text is None:
        raise UsageError(
            f"Line {number} of the input is no user message. It was not sent. Expected {EXPECTED}."
        )
    return text


def _text_of(content: object, keep: Keep) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = cast("list[jsontext.JsonObject]", content)
    parts = [_part(block, keep) for block in blocks]
    return "\n\n".join(part for part in parts if part is not None) if None not in parts else None


def _part(block: jsontext.JsonObject, keep: Keep) -> str | None:
    """A block in words: a text, or the label of an image; None for anything else."""
    if isinstance(block.get("text"), str):
        return str(block["text"])
    source = block.get("source")
    if block.get("type") != "image" or text_field(source, "type") != "base64":
        return None
    try:
        return keep(base64.b64decode(text_field(source, "data"), validate=True))[0]
    except (ValueError, UsageError) as error:
        return f"[an image is left out: {error}]"
