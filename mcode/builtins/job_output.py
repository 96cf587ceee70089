"""Reads what a background job has written since the last read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.process.lines import LineShaper, without_broken_start
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from mcode.builtins.jobs import Job

SHOWN_BYTES = 24_000
"""Bytes of new output that one look shows."""


def new_output(job: Job, most: int = SHOWN_BYTES) -> tuple[str, tuple[str, ...]]:
    """What a job has written since the last look, safe for the model, and what is left out."""
    try:
        data, skipped = read_new(job, most)
    except OSError as error:
        return "", (f"The output file {job.file} cannot be read: {error.strerror}.",)
    shaper = LineShaper()
    shown = shaper.feed(without_broken_start(data)) + shaper.finish()
    text = clean(shown.decode("utf-8", "replace"), Kind.MODEL).strip("\n")
    return text, (f"{skipped:,} earlier bytes are not shown; they are in {job.file}.",) if skipped else ()


def read_new(job: Job, most: int) -> tuple[bytes, int]:
    """What a job has written since it was last read: its end, `most` bytes, and how many before that are left out.

    Raises OSError where the file cannot be read.
    """
    size = job.file.stat().st_size
    start = max(job.read_to, size - most)
    with job.file.open("rb") as file:
        file.seek(start)
        data = file.read(size - start)
    skipped = start - job.read_to
    job.read_to = start + len(data)
    return data, skipped
