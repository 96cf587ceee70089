"""The transcript as a value: blocks folded from events, each with a revision."""

from __future__ import annotations


class Document:
    """What has happened, block by block."""
