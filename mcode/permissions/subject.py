"""One call as the rules see it: its tool, its paths resolved once, its shell line read once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from mcode.permissions.shell.files import files_read, files_written
from mcode.permissions.shell.lines import read_line
from mcode.permissions.shell.reach import Reach
from mcode.permissions.shell.reading import Form, read_shell
from mcode.permissions.shell.tree import ParserMissingError

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place
    from mcode.permissions.shell.lookup import Programs
    from mcode.permissions.shell.reading import Reading
    from mcode.tool import Access, Tool


class Subject:
    """What is judged. Everything that costs time is worked out when a rule first needs it."""

    def __init__(
        self,
        tool: Tool,
        arguments: JsonObject,
        access: Access,
        paths: PathPolicy,
        programs: Programs,
        parent: str | None = None,
        turn: int = 0,
    ) -> None:
        """`parent`: id of the call whose program makes this one, or in which a sub-agent does. `turn`: its number."""
        self.tool = tool.name
        self.source = tool.source
        self.effects = tool.effects
        self.arguments = arguments
        self.command = access.command
        self.domain = _host(access.domain)
        self.paths = paths
        self.programs = programs
        self.parent = parent
        self.turn = turn
        self._access = access

    @cached_property
    def reads(self) -> tuple[Place, ...]:
        """Places whose content or names the tool shows."""
        return self._locate(self._access.reads)

    @cached_property
    def writes(self) -> tuple[Place, ...]:
        """Places that the tool creates, changes or removes."""
        return self._locate(self._access.writes)

    @cached_property
    def reach(self) -> Reach:
        """What the shell line may run; nothing where there is no line."""
        return Reach(read_line(self.command or ""))

    @cached_property
    def reading(self) -> Reading | str:
        """The shell line as a parser reads it, for letting it run; why there is no parser where there is none."""
        try:
            return read_shell(self.command or "")
        except ParserMissingError as missing:
            return str(missing)

    @property
    def is_unreadable(self) -> bool:
        """True for a shell line of which nobody can say what it runs; not for one that is only complex."""
        if self.command is None:
            return False
        return isinstance(self.reading, str) or self.reading.form is Form.UNPARSEABLE

    @cached_property
    def shown(self) -> tuple[Place, ...]:
        """Places that the tool or its shell line shows, as far as a rough reading tells."""
        return self.reads + (files_read(self.reach, self.paths) if self.command else ())

    @cached_property
    def changed(self) -> tuple[Place, ...]:
        """Places that the tool changes or its shell line redirects into."""
        return self.writes + (files_written(self.reach, self.paths) if self.command else ())

    @cached_property
    def touched(self) -> tuple[Place, ...]:
        """Places that are shown or changed."""
        return self.shown + self.changed

    def _locate(self, paths: tuple[Path, ...]) -> tuple[Place, ...]:
        """Each place once: a tool names a link's target beside the link, which knows it already."""
        places = [self.paths.locate(path) for path in paths]
        return tuple(
            place
            for index, place in enumerate(places)
            if not any(set(place.spellings) <= set(other.spellings) for other in places[:index])
        )


def _host(domain: str | None) -> str | None:
    """The host in lower case, without port, brackets and the dot of a full name."""
    if domain is None:
        return None
    host = domain.strip().casefold()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    if host.count(":") == 1:
        host = host.partition(":")[0]
    return host.rstrip(".")
