"""What all programs of a session share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.call import Call, Outcome
    from mcode.run_code.audit import WriteAudit
    from mcode.run_code.engine import Engine
    from mcode.run_code.kept import KeptValues
    from mcode.run_code.limits import Limits
    from mcode.run_code.names import Toolbox

    Invoke = Callable[[Call], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Session:
    """The engine, the road and the limits of a session's programs, and what they keep for one another."""

    engine: Engine
    invoke: Invoke
    """`Pipeline.run`."""
    limits: Limits
    kept: KeptValues
    toolbox: Toolbox
    write_audit: WriteAudit
    mask: Callable[[str], str]
    """Hides secrets in what is shown or written."""
    together: bool
    """Whether the road awaits `before_body`, so that calls with effects can be decided on together (see `Lanes`)."""
