"""The files that a session has read, and what each brings in: instructions of its directory, and skills."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.agent.prompt import memory_text
from mcode.config.memory import memory_for
from mcode.events import Notice, ToolFinished

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from mcode.builtins.file_state import FileState
    from mcode.call import Outcome
    from mcode.catalog.catalog import Catalog
    from mcode.events import Event
    from mcode.tool import Workspace
    from mcode.wiring.core import SessionCore
    from mcode.wiring.skills import SessionSkills

MASK = "\u2039secret:"
"""How every mark begins that stands for a masked secret."""


@dataclass(slots=True)
class ReadFiles:
    """Follows the calls of one session, those of its programs too; sub-agents follow their own."""

    core: SessionCore
    state: FileState
    catalog: Catalog
    skills: SessionSkills
    elsewhere: Container[str | None]
    """Parents of calls that sub-agents make."""
    _read: list[Path] = field(default_factory=list["Path"], init=False)

    def __post_init__(self) -> None:
        self.core.events.subscribe(self._receive)

    def after_calls(self, outcomes: Sequence[Outcome]) -> None:
        """Keep what the file tools know, and bring in what belongs to directories that were read in."""
        del outcomes
        bench, conversation = self.core.bench, self.core.conversation
        known = self.state.remembered()
        if known != conversation.read_files:
            conversation.append("files", {"read": known})
        before = bench.memory
        paths, self._read = tuple(dict.fromkeys(self._read)), []
        for path in paths:
            bench.memory = memory_for(bench.memory, path)
        new = bench.memory.files[len(before.files) :]
        if new:
            content = "\n\n".join(memory_text(file) for file in new)
            conversation.append("context", {"content": content, "read": [str(path) for path in paths]})
        self.skills.touched(paths)
        for text in bench.memory.notices[len(before.notices) :]:
            self.core.events.emit(Notice(text))

    def _receive(self, event: Event) -> None:
        if isinstance(event, ToolFinished) and event.outcome.call.parent not in self.elsewhere:
            self._read += paths_read(event.outcome, self.catalog, self.core.workspace)


def recall_files(core: SessionCore, state: FileState) -> None:
    """What an earlier run of the session had read counts as read, and brought in instruction files."""
    bench, conversation = core.bench, core.conversation
    if MASK not in str(conversation.history.messages):
        # Where the model sees masks instead of what it read, it has to read again before it writes.
        state.restore(conversation.read_files)
    for path in conversation.read_paths:
        bench.memory = memory_for(bench.memory, Path(path))


def paths_read(outcome: Outcome, catalog: Catalog, workspace: Workspace) -> Sequence[Path]:
    """The files that a call has read for the model."""
    tool = catalog.find(outcome.call.tool)
    if tool is None or tool.name != "Read" or outcome.is_error:
        return ()
    return tool.access(outcome.call.arguments, workspace).reads
