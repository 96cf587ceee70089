"""Type a message 200 times while an approval comes at a random moment: nothing may be decided, nothing lost.

    python -m tools.typing_runs [runs]

The suite plays the same with fewer runs. Every twenty runs begin a session of their own.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.ui.tui.test_approvals import type_through_approvals

_RUNS, _SESSION = 200, 20


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else _RUNS
    for first in range(0, runs, _SESSION):
        count = min(_SESSION, runs - first)
        with tempfile.TemporaryDirectory(prefix="mcode-") as scratch:
            asyncio.run(type_through_approvals(Path(scratch), count, seed=first))
        print(f"{first + count} runs: no decision, no lost character", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
