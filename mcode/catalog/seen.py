"""What the model has really been shown: the deferred tools that were loaded, with how and when.

Being in the request's list is one thing, having been read another. A load is a record of the journal, so it
survives a resume and a fork; the definition is kept with it as the model was shown it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcode.jsontext import JsonObject

RECORD = "tool_loaded"
"""The journal's word for it."""


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """One tool that came into the context in mid-session."""

    name: str
    how: str
    """`search`, `call` (it was called without a search) or `user`."""
    query: str
    """What the search was for; empty where there was none."""
    turn: int
    call: str
    """Id of the call whose result showed it; empty where the user loaded it."""
    definition: JsonObject
    """As the model was shown it: name, description, input_schema."""


class LoadLog(Protocol):
    """The conversation, as loading needs it."""

    @property
    def loads(self) -> Mapping[str, LoadedTool]:
        """What is loaded, by name, in the order of loading."""
        ...

    def append(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        """Write one record and fold it; raises StorageError."""
        ...


class Seen:
    """Loads tools, and knows which are loaded."""

    def __init__(self, log: LoadLog) -> None:
        self._log = log

    @property
    def loaded(self) -> Mapping[str, LoadedTool]:
        """What is loaded, by name, in the order of loading."""
        return self._log.loads

    def is_loaded(self, name: str) -> bool:
        """True where the model has been shown this tool by a load."""
        return name in self._log.loads

    def load(
        self, definitions: Iterable[JsonObject], how: str, *, query: str = "", turn: int = 0, call: str = ""
    ) -> None:
        """Note that the model is shown these from now on; those that are loaded already stay as they were.

        Raises StorageError where that cannot be written, and then nothing is loaded.
        """
        new = [each for each in definitions if not self.is_loaded(str(each["name"]))]
        if new:
            body: JsonObject = {"tools": new, "how": how, "query": query, "turn": turn, "call": call}
            self._log.append(RECORD, body)


def loaded_tools(body: JsonObject) -> tuple[LoadedTool, ...]:
    """The loads of one record."""
    return tuple(
        LoadedTool(
            name=str(definition["name"]),
            how=str(body.get("how", "")),
            query=str(body.get("query", "")),
            turn=int(body.get("turn", 0)),
            call=str(body.get("call", "")),
            definition=definition,
        )
        for definition in cast("list[JsonObject]", body.get("tools", []))
    )
