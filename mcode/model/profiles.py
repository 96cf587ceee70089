"""What is known of an endpoint from its address: how to authenticate, which version, what it can do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from mcode.errors import UsageError

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

ANTHROPIC = "https://api.anthropic.com"
"""The base URL where none is set."""

COMMON_VERSION = "2023-06-01"
"""The API version that endpoints of others know."""


class HeaderStyle(StrEnum):
    """The header that carries the credential."""

    BEARER = "bearer"
    """`Authorization: Bearer ...`"""
    KEY = "x-api-key"
    BOTH = "both"
    """The same credential in both, for endpoints of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How to talk to one endpoint."""

    base_url: str
    """Without a slash at the end; `/v1/messages` is added to it."""
    label: str = "custom"
    """The provider or server, as far as the address tells."""
    header_style: HeaderStyle = HeaderStyle.BOTH
    api_version: str | None = COMMON_VERSION
    """Value of `anthropic-version`; None leaves the SDK's own."""
    extra_body: JsonObject = field(default_factory=dict)
    """Fields that go into every request."""
    reference_loading: bool = False
    """True where deferred tools and `tool_reference` blocks may be tried."""
    native_examples: bool = False
    """True where definitions may carry `input_examples`; elsewhere they stand in the description."""
    images: bool = True
    """False where its pages say that it takes none; elsewhere its refusal tells."""
    calls_on_end_turn: bool = True
    """True where complete calls count although the stop reason is `end_turn`."""
    first_event_limit: float = 600.0
    """Seconds of silence until content comes; local servers read a long prompt in silence for minutes."""
    idle_limit: float = 60.0
    """Seconds of silence later on."""
    total_limit: float | None = None
    """Seconds for a whole answer; None where a slow server may take its time."""

    @property
    def name(self) -> str:
        """Where requests go, for display: host, port and path; never user information or a query."""
        return _place(urlsplit(self.base_url))

    @property
    def is_local(self) -> bool:
        """True where the endpoint is on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


HINTS: tuple[tuple[str, str, HeaderStyle], ...] = (
    ("openrouter.ai", "OpenRouter", HeaderStyle.BEARER),
    ("ollama.com", "Ollama", HeaderStyle.BEARER),
    ("api.z.ai", "GLM", HeaderStyle.BEARER),
    ("bigmodel.cn", "GLM", HeaderStyle.BEARER),
    ("minimax.io", "MiniMax", HeaderStyle.BOTH),
    ("minimaxi.com", "MiniMax", HeaderStyle.BOTH),
    ("moonshot.ai", "Kimi", HeaderStyle.BOTH),
    ("moonshot.cn", "Kimi", HeaderStyle.BOTH),
    ("kimi.com", "Kimi", HeaderStyle.BOTH),
    ("deepseek.com", "DeepSeek", HeaderStyle.BOTH),
)
"""Host (or the end of it after a dot), provider, and the header that its pages name."""

WITHOUT_IMAGES = frozenset({"DeepSeek"})
"""Providers whose pages list images as not supported by their Messages endpoint."""

LOCAL_PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
"""Ports that local servers listen on unless told otherwise; a guess, used for the label alone."""


def choose_profile(
    base_url: str | None = None,
    *,
    header_style: str | None = None,
    api_version: str | None = None,
    extra_body: JsonObject | None = None,
) -> Profile:
    """The profile of a base URL; what the settings say goes before what is known.

    Raises UsageError where the URL or the header style cannot be used.
    """
    url = (base_url or ANTHROPIC).strip().rstrip("/")
    parts = _split(url)
    profile = _anthropic(url) if _is_anthropic(parts) else _other(url, parts)
    if header_style is not None:
        try:
            profile = replace(profile, header_style=HeaderStyle(header_style))
        except ValueError:
            known = ", ".join(f"`{style}`" for style in HeaderStyle)
            raise UsageError(
                f"The header style `{header_style}` for {profile.name} is not known; nothing was sent. "
                f"Use one of {known}."
            ) from None
    if api_version is not None:
        profile = replace(profile, api_version=api_version)
    return replace(profile, extra_body=dict(extra_body)) if extra_body else profile


def _anthropic(url: str) -> Profile:
    return Profile(
        base_url=url,
        label="Anthropic",
        header_style=HeaderStyle.BEARER,
        api_version=None,
        reference_loading=True,
        native_examples=True,
        calls_on_end_turn=False,
        first_event_limit=60.0,
        total_limit=600.0,
    )


def _other(url: str, parts: SplitResult) -> Profile:
    host = parts.hostname or ""
    for known, label, style in HINTS:
        if host == known or host.endswith(f".{known}"):
            return Profile(base_url=url, label=label, header_style=style, images=label not in WITHOUT_IMAGES)
    plain = Profile(base_url=url)
    if plain.is_local:
        return replace(plain, label=LOCAL_PORTS.get(parts.port or 0, "local server"))
    return plain


def _is_anthropic(parts: SplitResult) -> bool:
    return parts.scheme == "https" and parts.hostname == "api.anthropic.com" and parts.port in (None, 443)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable:
        raise UsageError(
            f"The base URL `{_place(parts) or '(unreadable)'}` cannot be used; nothing was sent. "
            "It needs http:// or https://, a host, and perhaps a port and a path, such as http://127.0.0.1:8080."
        )
    return parts


def _place(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    try:
        port = parts.port
    except ValueError:
        port = None
    return f"{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
