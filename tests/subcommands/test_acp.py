"""`mcode acp` where nobody can speak to it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("stream", ["input", "output"])
def test_an_editor_s_streams_are_pipes_and_anything_else_is_told_in_words(
    tmp_path: Path, stream: str
) -> None:
    (tmp_path / "file").touch()
    with (tmp_path / "file").open("r+b") as file:
        ended = subprocess.run(
            [sys.executable, "-m", "mcode", "acp", "--demo"],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            stdin=file if stream == "input" else subprocess.PIPE,
            stdout=file if stream == "output" else subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert ended.returncode == 2
    assert f"Standard {stream} is a file or a device" in ended.stderr.decode()
    assert "Nothing was started." in ended.stderr.decode()
