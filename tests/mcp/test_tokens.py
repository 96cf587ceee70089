"""Where sign-ins are kept."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcode.errors import StorageError
from mcode.mcp.entries import ServerEntry
from mcode.mcp.token_keyring import token_store
from mcode.mcp.tokens import SignIn, TokenFile

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.mcp.tokens import TokenStore

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


BACK_END = """
import json, os, pathlib
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

FILE = pathlib.Path(os.environ["KEYRING_OF_THE_TEST"])

class InFile(KeyringBackend):
    priority = 9
    def held(self):
        if FILE.with_suffix(".locked").exists():
            raise KeyringLocked("it is locked")
        return json.loads(FILE.read_text()) if FILE.exists() else {}
    def get_password(self, service, username):
        return self.held().get(f"{service}/{username}")
    def set_password(self, service, username, password):
        FILE.write_text(json.dumps({**self.held(), f"{service}/{username}": password}))
    def delete_password(self, service, username):
        held = self.held()
        if held.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("there is none")
        FILE.write_text(json.dumps(held))
"""
"""A real back end of the real package, as others are: a class in a module, chosen by a variable."""

KEYRING_KEY = f"mcode/mcp {ENTRY.name} {ENTRY.url}"


def keyring_in(tmp_path: Path, back_end: str = "in_file.InFile") -> TokenStore:
    (tmp_path / "in_file.py").write_text(BACK_END)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": back_end,
        "KEYRING_OF_THE_TEST": str(tmp_path / "ring.json"),
    }
    return token_store(tmp_path / "state", environment)


def test_where_there_is_a_keyring_it_alone_holds_a_sign_in(tmp_path: Path) -> None:
    TokenFile(tmp_path / "state").put(ENTRY, replace(SIGN_IN, access_token="of-the-file"))
    store = keyring_in(tmp_path)
    found = store.get(ENTRY)
    assert found is not None
    assert found.access_token == "of-the-file"  # from before the package was there
    store.put(ENTRY, SIGN_IN)
    ring = json.loads((tmp_path / "ring.json").read_text())
    assert json.loads(ring[KEYRING_KEY])["access_token"] == "a-token"
    assert TokenFile(tmp_path / "state").get(ENTRY) is None
    assert store.get(ENTRY) == SIGN_IN
    assert store.remove(ENTRY)
    assert json.loads((tmp_path / "ring.json").read_text()) == {}
    assert not store.remove(ENTRY)


def test_a_locked_keyring_gives_no_sign_in_and_keeps_none_elsewhere(tmp_path: Path) -> None:
    store = keyring_in(tmp_path)
    (tmp_path / "ring.locked").touch()
    assert store.get(ENTRY) is None
    with pytest.raises(StorageError, match=r"for remote: KeyringLocked: it is locked\. Nothing was changed"):
        store.put(ENTRY, SIGN_IN)
    assert TokenFile(tmp_path / "state").get(ENTRY) is None


def test_without_any_keyring_or_without_the_package_the_file_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = keyring_in(tmp_path, "keyring.backends.fail.Keyring")
    store.put(ENTRY, SIGN_IN)
    assert TokenFile(tmp_path / "state").get(ENTRY) == SIGN_IN
    assert store.get(ENTRY) == SIGN_IN
    assert store.remove(ENTRY)
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert isinstance(token_store(tmp_path / "state", {}), TokenFile)
