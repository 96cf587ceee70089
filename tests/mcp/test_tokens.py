"""Where sign-ins are kept."""

from __future__ import annotations

import json
import stat
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcode.mcp.entries import ServerEntry
from mcode.mcp.tokens import SignIn, TokenFile

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = ServerEntry("remote", "http", "user", None, url="https://tools.example/mcp")
SIGN_IN = SignIn("a-token", "again", 123.5, "https://a.example/token", "r", "s", {"client_id": "c"})


def test_what_is_kept_is_found_by_name_and_address(tmp_path: Path) -> None:
    store = TokenFile(tmp_path / "state")
    assert store.get(ENTRY) is None
    store.put(ENTRY, SIGN_IN)
    assert TokenFile(tmp_path / "state").get(ENTRY) == SIGN_IN
    assert store.get(replace(ENTRY, name="other")) is None
    assert store.get(replace(ENTRY, url="https://evil.example/mcp")) is None


def test_the_file_is_for_the_user_alone_and_no_copy_stays(tmp_path: Path) -> None:
    store = TokenFile(tmp_path / "state")
    store.put(ENTRY, SIGN_IN)
    store.put(ENTRY, replace(SIGN_IN, access_token="another"))
    assert store.remove(ENTRY)
    assert not store.remove(ENTRY)
    path = tmp_path / "state" / "mcp-tokens.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for file in path.parent.iterdir():
        assert "a-token" not in file.read_text()
        assert "another" not in file.read_text()


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "\xff",
        '{"signIns": 3}',
        '{"signIns": {"KEY": {"access_token": 3}}}',
        '{"signIns": {"KEY": []}}',
    ],
)
def test_a_damaged_file_gives_no_sign_in_and_the_next_one_is_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mcp-tokens.json"
    path.write_bytes(content.replace("KEY", f"{ENTRY.name} {ENTRY.url}").encode("latin-1"))
    store = TokenFile(tmp_path)
    assert store.get(ENTRY) is None
    store.put(ENTRY, SIGN_IN)
    assert store.get(ENTRY) == SIGN_IN
    assert store.fault == ""


def test_two_sessions_do_not_lose_each_others(tmp_path: Path) -> None:
    entries = [replace(ENTRY, name=f"server-{number}") for number in range(12)]
    threads = [threading.Thread(target=TokenFile(tmp_path).put, args=(entry, SIGN_IN)) for entry in entries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(TokenFile(tmp_path).get(entry) == SIGN_IN for entry in entries)


def test_a_token_counts_as_expired_a_little_early() -> None:
    assert replace(SIGN_IN, expires_at=time.time() + 5).expired
    assert not replace(SIGN_IN, expires_at=time.time() + 500).expired
    assert not replace(SIGN_IN, expires_at=None).expired
    assert not replace(SIGN_IN, refresh_token="").renewable


def test_fields_of_a_later_version_stay(tmp_path: Path) -> None:
    path = tmp_path / "mcp-tokens.json"
    path.write_text(json.dumps({"later": 1, "signIns": {"other x": {"access_token": "t"}}}))
    TokenFile(tmp_path).put(ENTRY, SIGN_IN)
    content = json.loads(path.read_text())
    assert content["later"] == 1
    assert "other x" in content["signIns"]
