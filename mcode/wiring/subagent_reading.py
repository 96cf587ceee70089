"""What a sub-agent's reading brings in: instruction files of the directories that it was in, and skills for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mcode.agent.prompt import memory_text
from mcode.config.memory import memory_for
from mcode.wiring.read_files import paths_read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.agent.conversation import Conversation
    from mcode.call import Outcome
    from mcode.catalog.catalog import Catalog
    from mcode.config.memory_files import Memory
    from mcode.tool import Workspace


class SubagentReading:
    """Notes what is read, and after a step's calls tells the sub-agent what comes with it."""

    def __init__(
        self, memory: Memory, conversation: Conversation, tell_of_skills: Callable[[Sequence[Path]], None]
    ) -> None:
        """`memory`: what stands in its system prompt from the start. `tell_of_skills` gets what was read lately."""
        self._conversation = conversation
        self._tell_of_skills = tell_of_skills
        self._read: list[Path] = []
        self.remember(memory)

    @property
    def instructions(self) -> tuple[str, ...]:
        """The instruction files of its system prompt, as text."""
        return tuple(memory_text(file) for file in self._instructions)

    def remember(self, memory: Memory) -> None:
        """These instruction files stand in its system prompt; what it reads later may bring in others."""
        self._memory, self._instructions = memory, memory.files

    def note(self, outcome: Outcome, catalog: Catalog, workspace: Workspace) -> None:
        """A call has ended. What a directory of a worktree brings in is that of the place it was made from."""
        paths = paths_read(outcome, catalog, workspace)
        self._read += [Path(workspace.twin(str(path)) or path) for path in paths]

    def after_calls(self, outcomes: Sequence[Outcome]) -> None:
        """Bring in what belongs to the directories that were read in; `note` has heard of every call."""
        del outcomes
        before = len(self._memory.files)
        paths, self._read = tuple(dict.fromkeys(self._read)), []
        for path in paths:
            self._memory = memory_for(self._memory, path)
        new = self._memory.files[before:]
        if new:
            self._conversation.append("context", {"content": "\n\n".join(memory_text(file) for file in new)})
        if paths:
            self._tell_of_skills(paths)
