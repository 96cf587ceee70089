"""What every hook is told of the session, read anew for each run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.process.environment import without_model_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcode.agent.conversation import Conversation
    from mcode.permissions.decide import Policy
    from mcode.session.store import OpenSession
    from mcode.tool import Workspace
    from mcode.wiring.workbench import Workbench


@dataclass(frozen=True, slots=True)
class HookFacts:
    """What every hook is told of the session."""

    _bench: Workbench
    _session: OpenSession
    _workspace: Workspace
    _policy: Policy
    _conversation: Conversation
    _effort: Callable[[], str]
    """How hard the turn's skills ask the model to try; empty where none does."""

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def transcript_path(self) -> Path:
        return self._session.journal.path

    @property
    def cwd(self) -> Path:
        return self._workspace.current

    @property
    def permission_mode(self) -> str:
        return str(self._policy.mode)

    @property
    def effort(self) -> str:
        return (
            "" if "effort" in self._conversation.repairs else self._effort()
        )  # refused: nobody tries harder

    @property
    def project_directory(self) -> Path:
        return self._workspace.start

    @property
    def environment(self) -> Mapping[str, str]:
        inherited = {**self._bench.environment, **self._bench.settings.env}
        return without_model_keys(inherited, keys=self._bench.endpoint.secrets)
