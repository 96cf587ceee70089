"""From the JSON of one server to its entry, with everything that is wrong with it. A bad entry is no server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object, as_texts
from mcode.config.known_keys import describe, is_number
from mcode.jsontext import dump
from mcode.mcp.entries import ServerEntry
from mcode.mcp.expansion import Expander

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from mcode.config.report import Report
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.mcp.entries import Kind, Scope

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

KINDS: dict[str, Kind] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}

BOTH = frozenset(
    {
        *(
            "type",
            "timeout",
            "startupTimeout",
            "startup_timeout",
            "alwaysLoad",
            "enabled",
            "disabled",
            "mcode",
            "description",
        ),
        *("includeTools", "excludeTools", "enabled_tools", "disabled_tools"),
    }
)
STDIO = frozenset({"command", "args", "env", "cwd"})
REMOTE = frozenset({"url", "headers", "headersHelper", "oauth"})
KNOWN = BOTH | STDIO | REMOTE

OWN = frozenset({"roots"})

OAUTH = frozenset({"clientId", "clientSecret", "callbackPort", "scopes", "authServerMetadataUrl"})

SHORTEST = 1000
"""Milliseconds; a shorter limit was meant as seconds."""


LONGEST = 8_000
"""Characters of a project's entry; the user is shown all of it."""


class BadEntryError(Exception):
    """Why an entry is no server; the message follows the entry's name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What all entries of one file share."""

    scope: Scope
    path: Path | None
    start: Path
    """Where relative working directories begin: the start directory, or for a project the file's."""
    home: Path
    environment: Mapping[str, str]
    """For variables."""


def read_entry(name: str, value: JsonValue, origin: Origin, report: Report, key: str) -> ServerEntry | None:
    """Check and expand one entry; None where it cannot be used, with the reason in the report."""
    try:
        return _Reading(name, _checked(name, value, origin), origin, report, key).entry()
    except BadEntryError as error:
        report.add(key, f"{error}; this server is skipped, the others count", "error")
        return None


def _checked(name: str, value: JsonValue, origin: Origin) -> JsonObject:
    if NAME.fullmatch(name) is None:
        raise BadEntryError("a name has 1 to 64 letters, digits, - and _")
    written = as_object(value)
    if written is None:
        raise BadEntryError(f"expected an object, got {describe(value)}")
    if origin.scope == "project" and len(dump(written)) > LONGEST:
        raise BadEntryError(f"it has over {LONGEST:,} characters, more than anybody can read and approve")
    return written


class _Reading:
    """One entry while it is read."""

    def __init__(self, name: str, written: JsonObject, origin: Origin, report: Report, key: str) -> None:
        self._name = name
        self._written = written
        self._origin = origin
        self._report = report
        self._key = key
        self._expander = Expander(origin.environment, trusted=origin.scope != "project")

    def entry(self) -> ServerEntry:
        kind = self._kind()
        self._unknown(self._written, KNOWN)
        self._misplaced(kind)
        disabled, why = self._disabled()
        common = ServerEntry(
            name=self._name,
            kind=kind,
            scope=self._origin.scope,
            path=self._origin.path,
            command=self._command() if kind == "stdio" else "",
            args=self._expander.texts(self._texts("args")) if kind == "stdio" else (),
            env=self._expander.mapping(self._mapping("env")) if kind == "stdio" else {},
            cwd=self._cwd() if kind == "stdio" else None,
            url=self._url() if kind != "stdio" else "",
            headers=self._headers() if kind != "stdio" else {},
            headers_helper=self._text("headersHelper") if kind != "stdio" else "",
            timeout=self._seconds("timeout"),
            startup_timeout=self._seconds("startupTimeout") or self._seconds("startup_timeout"),
            always_load=self._flag("alwaysLoad") or False,
            disabled=disabled,
            why_disabled=why,
            oauth=self._oauth() if kind == "http" else None,
            include_tools=self._names("includeTools", "enabled_tools"),
            exclude_tools=self._names("excludeTools", "disabled_tools") or (),
            own=self._own(),
            written=self._written,
        )
        self._note_variables()
        return common

    def _kind(self) -> Kind:
        written = self._written.get("type")
        if written is None:
            if "command" not in self._written and "url" in self._written:
                self._say("url", 'no "type" stands beside the url; it is taken for "http"', "info")
                return "http"
            return "stdio"
        if written in ("ws", "websocket"):
            raise BadEntryError('mcode does not speak "ws"; servers are reached by stdio, http or sse')
        kind = KINDS.get(written) if isinstance(written, str) else None
        if kind is None:
            raise BadEntryError(f'"type" is {describe(written)}, expected "stdio", "http" or "sse"')
        return kind

    def _command(self) -> str:
        command = self._text("command")
        if not command.strip():
            raise BadEntryError('"command" is missing: the program to run, its arguments in "args"')
        if " " in command.strip() and not self._written.get("args"):
            text = 'has a blank: it is taken for the name of one program; arguments stand in "args"'
            self._say("command", text, "warning")
        return self._expander.text(command)

    def _url(self) -> str:
        url = self._expander.text(self._text("url"))
        from urllib.parse import urlsplit

        try:
            parts = urlsplit(url.strip())
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if not good and not self._expander.unset:
            raise BadEntryError('"url" is missing, or no address that begins with https:// or http://')
        return url

    def _headers(self) -> dict[str, str]:
        headers = self._expander.mapping(self._mapping("headers"))
        for name, value in list(headers.items()):
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or re.search(r"[\r\n\0]", value):
                raise BadEntryError(f'"headers" has {name!r}, whose name or value no HTTP request can carry')
        return headers

    def _cwd(self) -> Path | None:
        written = self._text("cwd")
        if not written:
            return None
        home = self._origin.home
        return home / written[2:] if written.startswith("~/") else self._origin.start / written

    def _oauth(self) -> JsonObject | None:
        written = self._object("oauth")
        self._unknown(written, OAUTH, "oauth.")
        named = written.get("authServerMetadataUrl")
        if named is not None:
            from mcode.mcp.named_authority import metadata_address  # hardly any entry has it

            if not metadata_address(written):
                why = f"expected an https address, got {describe(named)}; it is ignored"
                self._say("oauth.authServerMetadataUrl", why, "warning")
        port = written.get("callbackPort")
        if port is not None and not (is_number(port) and port in range(1, 65536)):
            self._say(
                "oauth.callbackPort", f"expected a port, got {describe(port)}; it is ignored", "warning"
            )
            written = {name: value for name, value in written.items() if name != "callbackPort"}
        return written or None

    def _own(self) -> JsonObject:
        written = self._object("mcode")
        self._unknown(written, OWN, "mcode.")
        return written

    def _disabled(self) -> tuple[bool, str]:
        where = str(self._origin.path) if self._origin.path else "--mcp-config"
        if self._flag("disabled"):
            return True, f'"disabled" is true in {where}'
        if self._flag("enabled") is False:
            return True, f'"enabled" is false in {where}'
        return False, ""

    def _seconds(self, field: str) -> float | None:
        value = self._written.get(field)
        if value is None:
            return None
        if not is_number(value) or value < SHORTEST:
            text = f"expected milliseconds from {SHORTEST}, got {describe(value)}; it is ignored"
            self._say(field, text, "warning")
            return None
        return float(value) / 1000

    def _flag(self, field: str) -> bool | None:
        value = self._written.get(field)
        if value is None or isinstance(value, bool):
            return value
        self._say(field, f"expected true or false, got {describe(value)}; it is ignored", "warning")
        return None

    def _text(self, field: str) -> str:
        value = self._written.get(field)
        if value is None:
            return ""
        if not isinstance(value, str) or "\0" in value:
            raise BadEntryError(f'"{field}" is {describe(value)}, expected text')
        self._blanks(field, value)
        return value

    def _texts(self, field: str) -> list[str]:
        value = self._written.get(field)
        elements = [] if value is None else as_list(value)
        if elements is None:
            raise BadEntryError(f'"{field}" is {describe(value)}, expected a list of text')
        return [self._plain(f"{field}[{index}]", element) for index, element in enumerate(elements)]

    def _mapping(self, field: str) -> dict[str, str]:
        value = self._written.get(field)
        members = {} if value is None else as_object(value)
        if members is None:
            raise BadEntryError(f'"{field}" is {describe(value)}, expected an object of text')
        if any(not name or "=" in name or "\0" in name for name in members):
            raise BadEntryError(f'"{field}" has a name that is empty or has "=" in it')
        return {name: self._plain(f"{field}.{name}", element) for name, element in members.items()}

    def _plain(self, field: str, value: JsonValue) -> str:
        """Text as it is; numbers and booleans as JSON writes them, since many files have them bare."""
        if isinstance(value, bool) or is_number(value):
            return dump(value)
        if not isinstance(value, str) or "\0" in value:
            raise BadEntryError(f'"{field}" is {describe(value)}, expected text')
        self._blanks(field, value)
        return value

    def _object(self, field: str) -> JsonObject:
        value = self._written.get(field)
        if value is None or value is False:
            return {}
        members = as_object(value)
        if members is None:
            self._say(field, f"expected an object, got {describe(value)}; it is ignored", "warning")
        return members or {}

    def _names(self, *fields: str) -> tuple[str, ...] | None:
        """The first of the synonyms that is given."""
        for field in fields:
            value = self._written.get(field)
            names = None if value is None else as_texts(value)
            if names is not None:
                return tuple(names)
            if value is not None:
                # A list that was meant to keep tools out must not let them in by a mistake in it.
                raise BadEntryError(f'"{field}" is {describe(value)}, expected a list of names')
        return None

    def _blanks(self, field: str, value: str) -> None:
        if value != value.strip():
            self._say(field, "has blanks at its beginning or end; they are kept", "warning")

    def _unknown(self, members: JsonObject, known: Collection[str], prefix: str = "") -> None:
        import difflib

        for name in sorted(members.keys() - known):
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            text = "mcode does not know this field and ignores it"
            if near:
                self._say(prefix + name, f'{text}; did you mean "{near[0]}"?', "warning")
            else:
                self._report.unknown(f"{self._key}.{prefix}{name}", text)

    def _misplaced(self, kind: Kind) -> None:
        for name in sorted(self._written.keys() & (REMOTE if kind == "stdio" else STDIO)):
            self._say(name, f'has no meaning for a server of type "{kind}" and is ignored', "warning")

    def _note_variables(self) -> None:
        for name in self._expander.unset:
            text = f'the variable {name} of server "{self._name}" is not set; "${{{name}}}" stays as it is written'
            self._say("", text, "warning")
        for name in self._expander.withheld:
            text = f"server \"{self._name}\" asks for {name}: a project's server never gets the model's key"
            self._say("", text, "warning")

    def _say(self, field: str, text: str, severity: str) -> None:
        self._report.add(f"{self._key}.{field}" if field else self._key, text, severity)
