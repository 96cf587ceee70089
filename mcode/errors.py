"""The few exceptions of mcode. A tool's failure is a value (`call.Outcome`), never one of these."""

from __future__ import annotations


class McodeError(Exception):
    """Something a person can act on.

    The text says what failed, on which object, why, what is unchanged and what to do next. Front ends print
    it as it is, without a traceback.
    """


class UsageError(McodeError):
    """The command line, a script or a setting asks for something that cannot be done. Exit code 2."""


class StorageError(McodeError):
    """A file of mcode's own could not be read or written: disk full, no permission, locked elsewhere."""


class EndpointError(McodeError):
    """The model's endpoint refused, failed or could not be reached, and retrying is over or pointless."""
