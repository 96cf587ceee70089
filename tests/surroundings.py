"""The same surroundings for every run of the suite, whoever runs it, and where: a short list of variables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTSIDE: Mapping[str, str] = dict(os.environ)
"""The variables of whoever runs the tests; for what fetches something from outside, and for nothing else."""

KEPT = frozenset({"PATH", "TMPDIR", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV"})
"""What says where things are on this machine."""

KEPT_BEGINNINGS = ("PYTEST_", "COV_", "COVERAGE_", "MCODE_TEST_", "LD_", "DYLD_")
"""What the tests themselves, those who measure them, and Python's own libraries go by."""

KEPT_KNOBS = frozenset({"MCODE_NEW_PICTURES", "MCODE_TYPING_ROUNDS"})
"""What tests read of mcode's own names."""

SET = {"LANG": "C.UTF-8", "HOME": os.devnull}
"""Programs speak English, and in UTF-8. The tests get an empty home; while they are collected there is none."""


def isolate() -> None:
    """Leave of this process's variables what is kept, so that nothing else decides what a test sees.

    A terminal's name, a multiplexer, colours, keys, proxies, an editor, git's and mcode's own settings are set by
    the test that is about them.
    """
    for name in list(os.environ):
        if name not in KEPT | KEPT_KNOBS and not name.startswith(KEPT_BEGINNINGS):
            del os.environ[name]
    os.environ.update(SET)
