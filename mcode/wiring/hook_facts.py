"""The facts of a session that every hook is given, read anew for each run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.process.environment import without_model_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcode.wiring.core import SessionCore


@dataclass(frozen=True, slots=True)
class HookFacts:
    """What every hook is told of the session."""

    _core: SessionCore
    _effort: Callable[[], str]
    """How hard the turn's skills ask the model to try; empty where none does."""

    @property
    def session_id(self) -> str:
        return self._core.session.id

    @property
    def transcript_path(self) -> Path:
        return self._core.session.journal.path

    @property
    def cwd(self) -> Path:
        return self._core.workspace.current

    @property
    def permission_mode(self) -> str:
        return str(self._core.policy.mode)

    @property
    def effort(self) -> str:
        refused = "effort" in self._core.conversation.repairs
        return "" if refused else self._effort()

    @property
    def project_directory(self) -> Path:
        return self._core.workspace.start

    @property
    def environment(self) -> Mapping[str, str]:
        bench = self._core.bench
        inherited = {**bench.environment, **bench.settings.env}
        return without_model_keys(inherited, keys=bench.endpoint.secrets)
