"""What an address tells of an endpoint."""

from __future__ import annotations

import pytest

from mcode.errors import UsageError
from mcode.model.profiles import COMMON_VERSION, HeaderStyle, choose_profile


def test_anthropics_own_endpoint_keeps_the_sdks_version() -> None:
    for url in (None, "https://api.anthropic.com", "https://api.anthropic.com/"):
        profile = choose_profile(url)
        assert profile.label == "Anthropic"
        assert profile.api_version is None
        assert profile.header_style is HeaderStyle.BEARER
        assert profile.reference_loading
        assert not profile.calls_on_end_turn
        assert profile.first_event_limit == 60
        assert profile.idle_limit == 60
        assert profile.total_limit == 600


@pytest.mark.parametrize(
    "url",
    [
        "http://api.anthropic.com",
        "https://api.anthropic.com.example.org",
        "https://api.anthropic.com:8443",
        "https://example.org/api.anthropic.com",
        "http://127.0.0.1:8080",
    ],
)
def test_everything_else_is_a_third_party(url: str) -> None:
    profile = choose_profile(url)
    assert profile.api_version == COMMON_VERSION
    assert not profile.reference_loading
    assert profile.calls_on_end_turn
    assert profile.first_event_limit == 600
    assert profile.total_limit is None


@pytest.mark.parametrize(
    ("url", "label", "style"),
    [
        ("https://api.minimax.io/anthropic", "MiniMax", HeaderStyle.BOTH),
        ("https://api.moonshot.ai/anthropic/", "Kimi", HeaderStyle.BOTH),
        ("https://api.z.ai/api/anthropic", "GLM", HeaderStyle.BEARER),
        ("https://open.bigmodel.cn/api/anthropic", "GLM", HeaderStyle.BEARER),
        ("https://api.deepseek.com/anthropic", "DeepSeek", HeaderStyle.BOTH),
        ("https://openrouter.ai/api", "OpenRouter", HeaderStyle.BEARER),
        ("https://ollama.com", "Ollama", HeaderStyle.BEARER),
        ("http://localhost:11434", "Ollama", HeaderStyle.BOTH),
        ("http://127.0.0.1:1234", "LM Studio", HeaderStyle.BOTH),
        ("http://[::1]:8080", "llama.cpp", HeaderStyle.BOTH),
        ("http://localhost:8000", "vLLM", HeaderStyle.BOTH),
        ("http://127.0.0.1:4711", "local server", HeaderStyle.BOTH),
        ("https://notdeepseek.com", "custom", HeaderStyle.BOTH),
        ("http://example.org:11434", "custom", HeaderStyle.BOTH),
    ],
)
def test_known_addresses_bring_their_hints(url: str, label: str, style: HeaderStyle) -> None:
    profile = choose_profile(url)
    assert (profile.label, profile.header_style) == (label, style)


def test_settings_go_before_what_is_known() -> None:
    extra = {"temperature": 0.2}
    profile = choose_profile(
        "https://openrouter.ai/api", header_style="x-api-key", api_version="2026-10-21", extra_body=extra
    )
    assert profile.header_style is HeaderStyle.KEY
    assert profile.api_version == "2026-10-21"
    assert profile.extra_body == extra
    assert profile.label == "OpenRouter"


def test_an_unknown_header_style_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"`basic`.*`bearer`, `x-api-key`, `both`"):
        choose_profile(header_style="basic")


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://example.org", "http://", "http://[::1", "http://h:99999"]
)
def test_a_base_url_that_cannot_be_used_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be used; nothing was sent.*http://127\.0\.0\.1:8080"):
        choose_profile(url)


def test_the_name_shows_host_port_and_path_and_never_a_password() -> None:
    assert (
        choose_profile("https://user:secret@example.org:8443/anthropic/?key=s").name
        == "example.org:8443/anthropic"
    )
    assert choose_profile("http://[::1]:8080").name == "[::1]:8080"
    with pytest.raises(UsageError) as refused:
        choose_profile("ftp://user:secret@example.org")
    assert "secret" not in str(refused.value)
