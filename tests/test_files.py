"""Files of mcode's own: whole or not at all, changed under a lock, never overwritten unread (J-06)."""

from __future__ import annotations

import json
import os
import random
import stat
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from mcode.errors import StorageError
from mcode.files import FileLock, private_directory, remove_leftovers, replace_file, update_json
from mcode.files.locks import Holder
from tests.forks import exit_code, files_limited_to, in_child, kill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.jsontext import JsonObject


def add_rule(rule: str) -> Callable[[JsonObject], JsonObject]:
    def change(present: JsonObject) -> JsonObject:
        return {**present, "rules": [*rules_of(present), rule]}

    return change


def rules_of(value: JsonObject) -> list[object]:
    return value.get("rules") or []


def count_on(present: JsonObject) -> JsonObject:
    rules = rules_of(present)
    return {"rules": [*rules, len(rules)]}


def test_a_new_file_is_private_and_complete(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    replace_file(path, b"\x00\xff binary")
    assert path.read_bytes() == b"\x00\xff binary"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    replace_file(path, b"", mode=0o644)
    assert path.read_bytes() == b""
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_its_target_is_not_touched(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(target)
    replace_file(link, b"new")
    assert target.read_text() == "mine"
    assert link.read_bytes() == b"new"
    assert not link.is_symlink()


def test_a_write_that_fails_leaves_the_file_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    with files_limited_to(1000), pytest.raises(StorageError) as caught:
        replace_file(path, b"x" * 5000)
    assert path.read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == [path]
    message = str(caught.value)
    assert str(path) in message
    assert "as it was" in message
    assert "try again" in message


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"Make the directory .*nowhere first"):
        replace_file(tmp_path / "nowhere" / "file", b"x")


def test_j_06_a_kill_during_the_write_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    contents = [bytes([letter]) * 300_000 for letter in b"AB"]
    path.write_bytes(contents[0])

    def write_for_ever() -> None:
        while True:
            for content in contents:
                replace_file(path, content)

    chance = random.Random(20)
    for _ in range(25):
        child = in_child(write_for_ever)
        time.sleep(chance.uniform(0.0, 0.03))
        kill(child)
        assert path.read_bytes() in contents
    remove_leftovers(tmp_path, older_than=0)
    assert sorted(tmp_path.iterdir()) == [path]


def test_leftovers_of_others_and_young_ones_stay(tmp_path: Path) -> None:
    young = tmp_path / ".settings.json.mcode-tmp-123"
    old = tmp_path / ".settings.json.mcode-tmp-456"
    other = tmp_path / "notes.mcode-tmp-789"
    for path in (young, old, other):
        path.write_text("x")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    assert remove_leftovers(tmp_path) == 1
    assert sorted(tmp_path.iterdir()) == sorted([young, other])
    assert remove_leftovers(tmp_path / "missing") == 0


def test_private_directories_are_made_closed_and_closed_when_they_are_open(tmp_path: Path) -> None:
    path = private_directory(tmp_path / "a" / "b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o755)
    private_directory(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        private_directory(tmp_path / "file" / "below")


def test_j_06_twenty_processes_that_add_one_rule_each_make_twenty_rules(tmp_path: Path) -> None:
    path = tmp_path / "settings.local.json"
    path.write_text('{"rules": [], "unknown": {"kept": true}}')

    def add(number: int) -> Callable[[], object]:
        return lambda: update_json(path, add_rule(f"rule {number}"))

    children = [in_child(add(number)) for number in range(20)]
    assert [exit_code(child) for child in children] == [0] * 20
    present = json.loads(path.read_text())
    assert sorted(present["rules"]) == sorted(f"rule {number}" for number in range(20))
    assert present["unknown"] == {"kept": True}, "fields of other versions stay (L-07)"
    assert len(json.loads((tmp_path / "settings.local.json.bak").read_text())["rules"]) == 19


def test_j_06_a_kill_during_an_update_loses_no_rule_that_was_added(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    chance = random.Random(6)
    for _ in range(10):
        added, report = os.pipe()

        def add_for_ever(report: int = report) -> None:
            number = 0
            while True:
                number += 1
                update_json(
                    path,
                    lambda present: {"rules": [*present.get("rules", []), len(present.get("rules", []))]},
                )
                os.write(report, b".")

        before = len(rules_of(json.loads(path.read_text()))) if path.exists() else 0
        child = in_child(add_for_ever)
        os.close(report)
        time.sleep(chance.uniform(0.01, 0.05))
        kill(child)
        with os.fdopen(added, "rb") as acknowledged:
            count = len(acknowledged.read())
        rules = rules_of(json.loads(path.read_text())) if path.exists() else []
        assert rules == list(range(len(rules)))
        assert before + count <= len(rules) <= before + count + 1


def test_j_06_an_unreadable_file_that_people_edit_stays_and_a_copy_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"permissions": {"deny": ["Bash(rm *)"]},}')
    with pytest.raises(StorageError):
        update_json(path, add_rule("x"))
    with pytest.raises(StorageError) as caught:
        update_json(path, add_rule("x"))
    assert path.read_text() == '{"permissions": {"deny": ["Bash(rm *)"]},}'
    copies = list(tmp_path.glob("settings.json.bad-*"))
    assert len(copies) == 1, "the same content is not copied twice"
    assert copies[0].read_text() == path.read_text()
    message = str(caught.value)
    assert str(path) in message
    assert copies[0].name in message
    assert "not changed" in message


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"[1]", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"\x00" * 50])
def test_j_06_an_unreadable_file_that_only_mcode_writes_is_moved_away(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trust.json"
    path.write_bytes(content)
    notices: list[str] = []
    assert update_json(path, add_rule("x"), on_unreadable=notices.append) == {"rules": ["x"]}
    kept = list(tmp_path.glob("trust.json.bad-*"))
    assert [copy.read_bytes() for copy in kept] == [content]
    assert json.loads(path.read_text()) == {"rules": ["x"]}
    assert len(notices) == 1
    assert kept[0].name in notices[0]


def test_j_06_two_unreadable_files_of_the_same_second_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    for content in (b"first bad", b"second bad"):
        path.write_bytes(content)
        update_json(path, add_rule("x"), on_unreadable=lambda _: None)
    assert {copy.read_bytes() for copy in tmp_path.glob("trust.json.bad-*")} == {b"first bad", b"second bad"}


def test_a_file_with_a_byte_order_mark_and_an_empty_file_are_readable(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'\xef\xbb\xbf{"rules": ["a"]}')
    assert update_json(path, add_rule("b")) == {"rules": ["a", "b"]}
    path.write_bytes(b"")
    assert update_json(path, add_rule("c")) == {"rules": ["c"]}


def test_an_update_keeps_the_mode_the_link_and_the_order_of_keys(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text('{"zeta": 1, "alpha": "ü"}')
    target.chmod(0o644)
    link = tmp_path / "settings.json"
    link.symlink_to(target)
    update_json(link, add_rule("x"))
    assert link.is_symlink()
    assert list(json.loads(target.read_text())) == ["zeta", "alpha", "rules"]
    assert "ü" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o644


def test_an_update_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"rules":["as I like to write it"]}')
    update_json(path, lambda present: present)
    assert path.read_text() == '{"rules":["as I like to write it"]}'
    assert not (tmp_path / "settings.json.bak").exists()


def test_a_change_that_fails_leaves_everything_and_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"rules": []}')

    def fail(present: JsonObject) -> JsonObject:
        present["rules"].append("half done")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        update_json(path, fail)
    assert path.read_text() == '{"rules": []}'
    assert update_json(path, add_rule("x")) == {"rules": ["x"]}


def test_a_full_disk_leaves_the_settings_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    update_json(path, add_rule("x"))
    before = path.read_bytes()
    with files_limited_to(2000), pytest.raises(StorageError, match=r"settings\.json"):
        update_json(path, add_rule("y" * 5000))
    assert path.read_bytes() == before
    assert update_json(path, add_rule("z")) == {"rules": ["x", "z"]}


def test_a_lock_names_its_holder_and_vanishes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "session.lock"
    ready, tell = os.pipe()

    def hold() -> None:
        FileLock(path).acquire()
        os.write(tell, b"!")
        time.sleep(60)

    child = in_child(hold)
    assert os.read(ready, 1) == b"!"
    lock = FileLock(path)
    assert lock.is_taken()
    assert not lock.acquire(wait=0.05)
    assert lock.holder().process == child
    assert str(child) in lock.holder().describe()
    kill(child)
    assert not lock.is_taken()
    assert lock.acquire()
    assert lock.holder().process == os.getpid()
    lock.release()
    os.close(ready)
    os.close(tell)


def test_looking_at_a_lock_does_not_take_it(tmp_path: Path) -> None:
    path = tmp_path / "session.lock"
    assert not FileLock(path).is_taken()
    assert not path.exists()
    with FileLock(path):
        assert FileLock(path).is_taken()
    assert not FileLock(path).is_taken()


def test_a_lock_that_stays_taken_is_an_error_that_names_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with FileLock(path), pytest.raises(StorageError, match=str(os.getpid())), FileLock(path, wait=0.03):
        pass


def test_a_lock_file_that_was_removed_gives_no_second_lock_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first = FileLock(path)
    assert first.acquire()
    path.unlink()
    second, third = FileLock(path), FileLock(path)
    assert second.acquire(), "the name is free, and the new file is the one that counts"
    assert not third.acquire()
    second.release()
    first.release()
    assert third.acquire()
    third.release()


def test_the_holder_of_a_lock_is_told_in_the_users_own_time() -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    said = Holder(7, now.isoformat()).describe()
    assert said == f"process 7, since {now.astimezone():%Y-%m-%d %H:%M}"
    assert Holder(7, "long ago").describe() == "process 7, since long ago"
    assert Holder(None).describe() == "another process"
