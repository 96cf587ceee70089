"""The permission modes: how much runs without a question."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Mode(StrEnum):
    """The wire names are those of settings files, hooks and the command line."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    PLAN = "plan"
    DONT_ASK = "dontAsk"
    BYPASS = "bypassPermissions"


_SPELLINGS = {str(mode).casefold(): mode for mode in Mode} | {
    "manual": Mode.DEFAULT,
    "ask": Mode.DEFAULT,
}
"""`ask` is what the status line of the full screen calls the default."""


def parse_mode(text: str) -> tuple[Mode, str | None]:
    """Read a mode's name; returns it with a sentence the user should see, where there is one.

    Raises ValueError for a name that is no mode.
    """
    name = text.strip().casefold()
    if name == "auto":
        return Mode.DEFAULT, (
            "Mode `auto` lets a classifier decide, which mcode does not have; it is treated as `default`."
        )
    mode = _SPELLINGS.get(name)
    if mode is None:
        from difflib import get_close_matches  # needed for an error only

        near = get_close_matches(name, _SPELLINGS, 1)
        hint = f" Did you mean {_SPELLINGS[near[0]]}?" if near else ""
        raise ValueError(f"There is no permission mode {text!r}.{hint} The modes are {', '.join(Mode)}.")
    return mode, None


def next_mode(mode: Mode, *, can_bypass: bool) -> Mode:
    """The mode after `mode` in the cycle of Shift+Tab; the first one after a mode outside the cycle."""
    cycle = [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN]
    if can_bypass:
        cycle.append(Mode.BYPASS)
    return cycle[(cycle.index(mode) + 1) % len(cycle)] if mode in cycle else Mode.DEFAULT


def resumed_mode(mode: Mode) -> Mode:
    """The mode that a resumed session begins with: `plan` and `bypassPermissions` are not taken over."""
    return Mode.DEFAULT if mode in (Mode.PLAN, Mode.BYPASS) else mode


def bypass_refusal(*, disabled: bool, user_id: int, sandboxed: bool) -> str | None:
    """Why `bypassPermissions` may not be enabled in this run; None where it may.

    `disabled` is the setting `disableBypassPermissionsMode`; `user_id` the effective user.
    """
    if disabled:
        return (
            "Mode bypassPermissions is switched off by the setting disableBypassPermissionsMode. "
            "Nothing was started. Use acceptEdits, or allow rules for what should run unasked."
        )
    if user_id == 0 and not sandboxed:
        return (
            "Mode bypassPermissions is refused for root: every command would run unasked with all rights on "
            "this machine. Nothing was started. Run mcode as another user; or, where this machine is a "
            "container or virtual machine that may be thrown away, set IS_SANDBOX=1."
        )
    return None


def in_sandbox(environment: Mapping[str, str]) -> bool:
    """True where whoever started mcode says that the machine is a sandbox."""
    return any(environment.get(name) == "1" for name in ("IS_SANDBOX", "MCODE_SANDBOX"))
