"""J-01 to J-05: what was acknowledged survives SIGKILL at any moment. The full size is `tools/kill_sessions.py`."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.e2e.binary import ROOT

KILLS = 20


def test_j_02_kills_at_random_moments_lose_nothing_that_was_acknowledged() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tools.kill_sessions", "--kills", str(KILLS)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{KILLS} kills" in ran.stdout
    assert "0 problems" in ran.stdout
