"""Planted secrets: a whole session with a detailed log, and nothing of them in any file that mcode wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcode.masking import Masker
from mcode.mcp.entries import ServerEntry
from mcode.mcp.server_facts import secret_values
from mcode.process.masking import MASK_LIMIT, mask_file
from tools.planted_secrets import run

if TYPE_CHECKING:
    from pathlib import Path


async def test_k_01_k_05_no_file_of_a_session_holds_a_planted_secret(tmp_path: Path) -> None:
    """Not looked at is the undo store alone (it gives back bytes as they were), where they stand indeed.
    Thinking that a model has signed is kept exactly too; a scripted model signs none."""
    assert await run(tmp_path.resolve(), 7) == []
    home = tmp_path.resolve() / "home"
    assert any(b"sk-" in path.read_bytes() for path in home.rglob("undo/objects/*/*"))
    journal = next(path for path in (home / ".mcode" / "projects").rglob("*.jsonl") if len(path.stem) == 36)
    ended = [json.loads(line)["body"] for line in journal.read_text().splitlines() if "call_finished" in line]
    statuses = {body["id"]: body["status"] for body in ended}
    assert statuses["toolu_5"] == "ok", "the server did answer"
    assert statuses["toolu_6"] == "ok", "the program did run"
    assert statuses["toolu_7"] == "failed", "the tool did raise"
    log = (home / ".mcode" / "logs" / "mcode.log").read_text()
    assert "RuntimeError" in log
    assert "\u2039secret:" in log


def test_k_05_values_of_a_servers_entry_are_secrets_by_name_or_by_looks() -> None:
    key = "zq7" + "A1b2C3d4E5f6" * 2
    entry = ServerEntry(
        "s",
        "stdio",
        "user",
        None,
        env={"MODE": "production", "DATA_TOKEN": "plain-words-only", "OTHER": key},
        headers={"Authorization": "Bearer words-of-mine", "Accept": "application/json"},
    )
    assert set(secret_values(entry)) == {"plain-words-only", key, "Bearer words-of-mine", "words-of-mine"}
    masker = Masker()
    masker.learn(secret_values(entry))
    masked = masker.mask("production with plain-words-only and words-of-mine, application/json")
    assert "plain-words-only" not in masked
    assert "words-of-mine" not in masked
    assert masked.startswith("production with \u2039secret:server:")
    assert masked.endswith(", application/json")


def test_k_01_kept_output_is_searched_up_to_a_limit_and_bytes_that_are_no_text_stay(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "A1b2C3d4E5f6" * 3
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"\xff\x00 " + b"words " * 20 + secret.encode() + b" end")
    large.write_bytes(secret.encode() + b"x" * MASK_LIMIT)
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)) * 100)
    for path in (small, large, noise, tmp_path / "missing"):
        mask_file(path, Masker().mask)
    kept = small.read_bytes()
    assert secret.encode() not in kept
    assert kept.startswith(b"\xff\x00 ")
    assert kept.endswith(b" end")
    assert small.stat().st_mode & 0o777 == 0o600
    assert noise.read_bytes() == bytes(range(256)) * 100
    assert large.read_bytes().startswith(secret.encode()), "exact values are replaced while it is written"
