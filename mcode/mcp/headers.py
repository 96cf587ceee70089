"""The headers for a server over HTTP: those of its entry, and those that the user's helper prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.jsontext import JsonError, parse_object
from mcode.process.run import ProcessSpec, run_process

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.mcp.entries import ServerEntry

HELPER_TIME = 10.0
"""Seconds that the helper may take."""

NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

RESERVED = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})
"""Headers that the connection itself sets."""


class HeadersError(OSError):
    """The helper gave no headers; the message says why and holds none of its output."""


async def all_headers(entry: ServerEntry, start: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The entry's headers, and over them those of its helper, which is run now. Raises HeadersError."""
    headers = {name: value.strip() for name, value in entry.headers.items()}
    if entry.headers_helper:
        helped = await _ask(entry, start, environment)
        named = {name.lower() for name in helped}
        headers = {name: value for name, value in headers.items() if name.lower() not in named} | helped
    return {name: value for name, value in headers.items() if name.lower() not in RESERVED}


async def _ask(entry: ServerEntry, start: Path, environment: Mapping[str, str]) -> dict[str, str]:
    told = {
        "MCODE_MCP_SERVER_NAME": entry.name,
        "MCODE_MCP_SERVER_URL": entry.url,
        "CLAUDE_CODE_MCP_SERVER_NAME": entry.name,
        "CLAUDE_CODE_MCP_SERVER_URL": entry.url,
    }
    argv = ("/bin/sh", "-c", entry.headers_helper)
    spec = ProcessSpec(argv, start, {**environment, **told}, timeout=HELPER_TIME, output_limit=64_000)
    try:
        result = await run_process(spec)
    except (OSError, ValueError) as error:
        raise HeadersError(f"its headersHelper could not be started ({error})") from None
    if result.timed_out:
        raise HeadersError(f"its headersHelper was ended after {HELPER_TIME:g} s")
    if result.exit_code != 0:
        how = f"signal {result.signal}" if result.exit_code is None else f"exit code {result.exit_code}"
        raise HeadersError(f"its headersHelper ended with {how}")
    try:
        printed = parse_object(result.stdout.text)
    except JsonError:
        raise HeadersError("its headersHelper printed no JSON object") from None
    headers: dict[str, str] = {}
    for name, value in printed.items():
        if NAME.fullmatch(name) is None or not isinstance(value, str) or re.search(r"[\r\n\0]", value):
            raise HeadersError("its headersHelper printed a header that no request can carry")
        headers[name] = value
    return headers
