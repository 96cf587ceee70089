"""`mcode --demo --tour -p`: the demo plays by itself where nobody sits at a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mcode


def test_the_tour_runs_without_key_terminal_or_network_and_ends_with_the_ledger(tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = {**kept, "HOME": str(tmp_path), "PYTHONPATH": str(Path(mcode.__file__).parent.parent)}
    ran = subprocess.run(
        [sys.executable, "-m", "mcode", "--tour", "-p", "--output-format", "json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stderr
    played, context = (json.loads(line) for line in ran.stdout.splitlines())
    assert "Both answers are right" in played["result"]
    assert (
        "nothing was changed" in played["result"]
    )  # nobody was there to allow the one call that changes something
    assert [denial["tool_name"] for denial in played["permission_denials"]] == [
        "mcp__office__flag_for_review"
    ]
    savings = context["mcode"]["ledger"]["savings"]
    assert savings["deferral"]["deferred_tools"] > 60
    assert savings["deferral"]["net"] > 0
    assert savings["kept_out"] > 10_000
    assert "without deferral this session would have sent" in context["result"]
