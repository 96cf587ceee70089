"""What holds for the whole suite."""

from __future__ import annotations

import os


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: much of the suite waits for processes, terminals and servers."""
    return (os.cpu_count() or 1) + 1
