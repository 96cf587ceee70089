"""The audit's files: private, complete, and a program whose calls cannot be recorded does not go on."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from mcode.errors import StorageError
from mcode.run_code.audit_files import AuditFiles, audit_path
from mcode.run_code.audit_read import read_audits

if TYPE_CHECKING:
    from pathlib import Path


async def test_records_are_in_a_private_file_and_torn_ends_are_read_over(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path)
    files.write("p/1", "start", {"code": "return 1", "title": "one"})
    files.write("p/1", "call", {"index": 1, "tool": "Read", "state": "ok", "line": 1})
    files.close()
    path = audit_path(tmp_path, "p/1")
    assert path.name == "program-p_1.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open("a") as file:
        file.write('{"type":"call","index":2,"to')
    (program,) = read_audits(tmp_path)
    assert (program.number, program.status, len(program.calls)) == (1, "running", 1)
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()[:2]] == ["start", "call"]


async def test_a_file_that_cannot_be_made_is_said_and_never_followed(tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere", audit_path(tmp_path, "p1"))
    files = AuditFiles(tmp_path)
    with pytest.raises(StorageError, match="does not go on"):
        files.write("p1", "start", {"code": "return 1"})
    assert not (tmp_path / "elsewhere").exists()
