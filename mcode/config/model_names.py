"""Names of models in files that were written for another agent."""

from __future__ import annotations

SHORT = ("opus", "sonnet", "haiku", "fable")
"""Names that another agent gives to its maker's models; which of an endpoint's would be meant cannot be known."""


def model_named(written: str) -> str:
    """The model that a file wants; empty where it is to be the session's own, as with a short name."""
    name = written.strip()
    return "" if name.lower() in ("", "inherit", "default", *SHORT) else name
