"""The log of verdicts on a real file."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.call import Call, Origin
from mcode.errors import StorageError
from mcode.permissions.verdict import Behavior, Verdict
from mcode.permissions.verdict_log import TEXT_LIMIT, VerdictLog

if TYPE_CHECKING:
    from tests.permissions.conftest import House

SECRET = "hush" + "-" + "1234567890"


class Hides:
    """Masks one known text."""

    def mask(self, text: str) -> str:
        return text.replace(SECRET, "(secret)")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_p_15_each_decision_is_one_line_with_everything_in_it(tmp_path: Path, house: House) -> None:
    log = VerdictLog(tmp_path / "logs/verdicts.jsonl", Hides(), session="s-1")
    verdict = house.decide(("deny Bash(rm *)",), "Bash(rm x)")
    call = Call("c-1", "Bash", {"command": "rm x"}, Origin.PROGRAM, parent="p-1")
    log.write(call, verdict, decided_by="rule", duration=0.0124)
    log.close()
    (line,) = lines_of(log.path)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "session": "s-1", "call": "c-1", "parent": "p-1", "origin": "program", "tool": "Bash", "text": "rm x",
        "verdict": "deny", "kind": "rule", "reason": verdict.reason, "rule": "Bash(rm *)",
        "rule_from": f"{house.start}/settings.json, line 3", "decided_by": "rule", "duration_ms": 12,
    }  # fmt: skip


def test_p_15_the_file_is_private_and_only_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text('{"old": true}\n')
    path.chmod(0o644)
    log = VerdictLog(path, Hides())
    log.write(Call("c", "Read", {}), Verdict(Behavior.ALLOW, "x"), decided_by="mode", duration=0)
    log.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert lines_of(path)[0] == {"old": True}
    assert len(lines_of(path)) == 2


def test_p_15_secrets_are_masked_and_long_calls_are_kept_as_a_hash(tmp_path: Path) -> None:
    log = VerdictLog(tmp_path / "v.jsonl", Hides())
    verdict = Verdict(Behavior.ASK, f"it sends {SECRET}")
    log.write(
        Call("a", "Bash", {"command": f"curl -H {SECRET}"}), verdict, decided_by=f"hook {SECRET}", duration=1
    )
    log.write(
        Call("b", "Write", {"content": SECRET + "x" * TEXT_LIMIT}), verdict, decided_by="you", duration=1
    )
    log.write(Call("c", "Bash", {"command": "a\nb\ud800"}), verdict, decided_by="you", duration=1)
    log.close()
    assert SECRET not in log.path.read_text("utf-8")
    first, second, third = lines_of(log.path)
    assert first["text"] == "curl -H (secret)"
    assert len(second["sha256"]) == 64
    assert second["characters"] > TEXT_LIMIT
    assert third["text"] == "a\nb\ud800"


def test_p_15_lines_of_several_writers_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"

    def write(name: str) -> None:
        log = VerdictLog(path, Hides(), session=name)
        for number in range(50):
            log.write(
                Call(str(number), "Bash", {"command": "x" * 1000}),
                Verdict(Behavior.ALLOW, "r"),
                decided_by="m",
                duration=0,
            )
        log.close()

    threads = [threading.Thread(target=write, args=(f"s{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines_of(path)) == 200


def test_p_15_a_log_that_cannot_be_written_says_which_and_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        StorageError, match=r"cannot be opened: .*file/v\.jsonl \(file exists\).*file is no directory"
    ):
        VerdictLog(tmp_path / "file/v.jsonl", Hides())
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="link"):
        VerdictLog(tmp_path / "link.jsonl", Hides())
    log = VerdictLog(tmp_path / "w.jsonl", Hides())
    log.close()
    with pytest.raises(StorageError, match="cannot be written"):
        log.write(Call("c", "Read", {}), Verdict(Behavior.ALLOW, "x"), decided_by="m", duration=0)


def test_the_room_is_imported_without_anything_slow() -> None:
    """pathspec comes with the first path rule that is compared, not with the import."""
    program = (
        "import sys, mcode.permissions.decide, mcode.permissions.verdict_log;"
        "print([name for name in ('pathspec', 'asyncio', 'pydantic', 'difflib') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert ran.stdout.strip() == "[]"
