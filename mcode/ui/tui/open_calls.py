"""The calls of the turn that runs: which card shows each of them, and which ones wait for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.call import Origin, Status
from mcode.ui.tui.call_node import CallNode

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.call import Outcome
    from mcode.events import ToolStarted
    from mcode.ui.tui.blocks import Block, CallBlock


class OpenCalls:
    """Calls by their ids. What changes in one is told by `touch`, with the block that shows it."""

    def __init__(self, clock: Callable[[], float], touch: Callable[[Block], None]) -> None:
        self._clock = clock
        self._touch = touch
        self._calls: dict[str, tuple[CallNode, CallBlock]] = {}
        self._running: dict[str, CallBlock] = {}
        self._asked: dict[str, str] = {}
        """Id of an approval or question: id of its call."""
        self._programs = 0
        self._own_commands: list[tuple[str, CallBlock]] = []
        """Shell lines of the user's that no turn has told the model of yet."""

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._calls

    @property
    def running(self) -> tuple[CallBlock, ...]:
        """Blocks with a call that runs or waits, each once."""
        return tuple(dict.fromkeys(self._running.values()))

    def begin(self, event: ToolStarted, card: Callable[[CallNode], CallBlock]) -> None:
        """Take a call in; `card` makes the block of one that no other call has made."""
        call = event.call
        node = CallNode(call, event.preview.title, event.source, self._clock())
        if call.tool == "run_code":
            self._programs += 1
            node.ordinal = self._programs
        parent = self._calls.get(call.parent or "")
        if parent is not None:
            parent[0].add(node)
            block = parent[1]
            self._touch(block)
        else:
            block = card(node)
        self._calls[call.id] = (node, block)
        self._running[call.id] = block
        if node.own_command:
            self._own_commands.append((str(call.arguments.get("command", "")), block))

    def progress(self, call_id: str, line: str) -> None:
        """A call says what it does."""
        if call_id in self._running:
            node, block = self._calls[call_id]
            node.progress = line
            self._touch(block)

    def finish(self, outcome: Outcome) -> bool:
        """A call has ended; False where it is not known."""
        found = self._calls.get(outcome.call.id)
        if found is None:
            return False
        node, block = found
        node.finish(outcome)
        self._running.pop(outcome.call.id, None)
        self._touch(block)
        if outcome.call.origin is Origin.USER and outcome.call.parent is None:
            self._calls.pop(outcome.call.id)
        return True

    def ask(self, identifier: str, call_id: str) -> None:
        """A call waits for the user, and so do the programs that it is inside of."""
        self._asked[identifier] = call_id
        for node, block in self._upwards(call_id):
            node.asked += node.call.id == call_id
            if node.waits is None:
                node.waits = self._clock()
            self._touch(block)

    def answered(self, identifier: str) -> None:
        """The call goes on; the time that the user took is not its own, nor its program's."""
        call_id = self._asked.pop(identifier, "")
        for node, block in self._upwards(call_id):
            node.asked -= node.call.id == call_id
            if (
                node.waits is not None
                and not node.asked
                and all(child.waits is None for child in node.children)
            ):
                node.started += self._clock() - node.waits
                node.waits = None
            self._touch(block)

    def told_of(self, command: str) -> CallBlock | None:
        """The card of that shell line, which the user has run before the turn that tells of it; each counts once."""
        for entry in self._own_commands:
            if entry[0] == command:
                self._own_commands.remove(entry)
                return entry[1]
        return None

    def end(self) -> None:
        """Nothing runs any more, but for what sub-agents do in the background."""
        behind = {identifier for identifier in self._calls if self._is_behind(identifier)}
        for identifier, block in tuple(self._running.items()):
            if identifier in behind:
                continue
            node = self._calls[identifier][0]
            node.status, node.waits, node.summary = Status.CANCELLED, None, "did not end"
            self._touch(block)
        self._running = {each: block for each, block in self._running.items() if each in behind}
        self._calls = {each: entry for each, entry in self._calls.items() if each in behind}
        self._asked = {asked: each for asked, each in self._asked.items() if each in behind}

    def _is_behind(self, call_id: str) -> bool:
        """Whether a call belongs to a sub-agent that works in the background."""
        return any(node.goes_on for node, _ in self._upwards(call_id))

    def _upwards(self, call_id: str) -> list[tuple[CallNode, CallBlock]]:
        """A call and the programs that it is inside of, innermost first."""
        found: list[tuple[CallNode, CallBlock]] = []
        entry = self._calls.get(call_id)
        while entry is not None and len(found) < 8:
            found.append(entry)
            entry = self._calls.get(entry[0].call.parent or "")
        return found
