"""The registry of slash commands: finding one by what the user typed, and running it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from mcode import jsontext
from mcode.commands.lazy_rows import LazyRows
from mcode.commands.near_words import near_words
from mcode.errors import McodeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from mcode.commands.host import CommandContext
    from mcode.events import TurnFinished
    from mcode.jsontext import JsonValue


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Leave the present session and open another one."""

    source: str
    """`clear` for a new session, `resume` for an earlier one, `fork` for a copy of one."""
    reference: str | None = None
    """Id, beginning of an id, or name of the session to resume."""
    name: str = ""
    """What the session is called once it is open; empty where it stays as it is."""


@dataclass(frozen=True, slots=True)
class Quit:
    """End mcode."""


@dataclass(frozen=True, slots=True)
class CopyText:
    """Put the text on the clipboard, where there is one; elsewhere it is shown."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenEditor:
    """Open a file in the user's editor, where there is a terminal for it."""

    path: Path


@dataclass(frozen=True, slots=True)
class Redraw:
    """The conversation went back: show where it stands now, and put a message that was taken back into the draft."""

    draft: str = ""
    turn: int = 0
    """The message from which on all was taken back; 0 where nothing was, as a summary stands for it."""
    remark: str = ""
    """What is to stand between what was shown so far and what follows."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command answers."""

    said: str | Callable[[], str]
    """The text, or what makes it: where the lines are many, and a screen shows the data in their place."""
    facts: JsonValue | LazyRows = None
    """The same for inspectors, scripts and `--json`: a JSON value, or rows that are made when they are read."""
    action: OpenSession | Quit | Redraw | CopyText | OpenEditor | None = None
    """What the front end has to do next."""
    turn: Awaitable[TurnFinished] | None = None
    """The end of the turn that the command began; a front end that ends with its answer has to wait for it."""
    failed: bool = False
    """True where the command could not do what was asked; the text says why."""
    on_card: bool = False
    """True where a call did the work: a front end whose cards show what came of calls need not say the text, too."""
    foot: str = ""
    """The lines of the text that belong below the rows of `data`, for a screen that shows those as a table."""

    @property
    def data(self) -> JsonValue:
        """The facts as a JSON value, whole."""
        return list(self.facts) if isinstance(self.facts, LazyRows) else self.facts

    @property
    def text(self) -> str:
        """For people: plain lines, not yet cleaned for a terminal."""
        return self.said if isinstance(self.said, str) else self.said()


@dataclass(frozen=True, slots=True)
class Arguments:
    """What stands after a command's name."""

    rest: str
    """The text as typed, without blanks around it."""

    @property
    def words(self) -> tuple[str, ...]:
        """The text split at blanks, quotes honoured; raises UsageError where a quote is left open."""
        try:
            return tuple(shlex.split(self.rest))
        except ValueError:
            raise UsageError(
                f"The arguments `{self.rest}` have a quote that is not closed; nothing was done. Close it, "
                "or put a backslash before a quote that is meant literally."
            ) from None

    def at_most(self, count: int, usage: str) -> tuple[str, ...]:
        """The words, of which there may be `count`; raises UsageError that shows how the command is used."""
        words = self.words
        if len(words) > count:
            allowed = "no argument" if count == 0 else f"at most {count}"
            quotes = " A name with blanks needs quotes." if count else ""
            raise UsageError(
                f"Expected {allowed}, got {len(words)}: nothing was done. Usage: {usage}.{quotes}"
            )
        return words


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command."""

    name: str
    summary: str
    """One line for /help and completion."""
    run: Callable[[CommandContext, Arguments], Awaitable[CommandResult]]
    usage: str = ""
    """The arguments, as /help shows them."""
    aliases: tuple[str, ...] = ()
    complete: Callable[[CommandContext], Sequence[str]] | None = None
    """Words that can follow the name, for completion; called in a thread."""
    detail: str = ""
    """More lines for `/help NAME`."""
    elsewhere: tuple[str, ...] = ()
    """What other agents call it: it is run for these names, too, where the user has nothing of that name."""


Kept: TypeAlias = "Callable[[CommandContext, str, Arguments], Awaitable[CommandResult | None]]"
"""Runs what the user keeps under a name; None where there is nothing of that name."""

Others: TypeAlias = "Callable[[CommandContext], Awaitable[Sequence[str]]]"
"""The names, besides those of commands, that mean something behind a slash."""

_NAME = re.compile(r"\w[\w:.?!-]*")
"""What may be meant for the name of a command."""


class Registry:
    """All commands by name and alias."""

    def __init__(
        self, commands: Iterable[Command], kept: Kept | None = None, others: Others | None = None
    ) -> None:
        """`kept` answers for names that are no command: the user's own programs; `others` names what else there is."""
        self._commands = tuple(commands)
        self._kept = kept
        self._others = others
        self._by_name: dict[str, Command] = {}
        self._elsewhere = {name: command for command in self._commands for name in command.elsewhere}
        for command in self._commands:
            for name in (command.name, *command.aliases):
                if name in self._by_name:
                    raise ValueError(f"two commands are called /{name}")
                self._by_name[name] = command

    def of(self, commands: Iterable[Command]) -> Registry:
        """Other commands; for what is none of them the user's own answer as here."""
        return Registry(commands, self._kept, self._others)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands)

    def find(self, name: str) -> Command | None:
        """The command of this name or alias, without the slash; letter case does not matter."""
        return self._by_name.get(name.lower())

    def meant(self, name: str) -> Command | None:
        """The command of this name or alias, or the one that other agents call so."""
        return self.find(name) or self._elsewhere.get(name.lower())

    def nearest(self, name: str, others: Sequence[str] = ()) -> tuple[str, ...]:
        """Up to three names of commands, or of `others`, that look like `name` or begin with it, the best first."""
        return near_words(name, (*self._by_name, *others))

    async def run(self, line: str, context: CommandContext) -> CommandResult:
        """Run what the user typed, slash included. What cannot be done comes back as a failed result.

        `--json` as the first or last word turns the text into the JSON value.
        """
        name, rest = split_line(line)
        command = self.find(name)
        rest, as_json = _without_json_flag(rest)
        try:
            _check_flag(rest)
            own = None
            if command is None:
                own = await self._kept(context, name, Arguments(rest)) if self._kept is not None else None
                command = self._elsewhere.get(name.lower())
            if own is not None:
                result = own
            elif command is not None:
                result = await command.run(context, Arguments(rest))
            else:
                result = await self._unknown(name, context)
        except McodeError as error:
            result = CommandResult(str(error), {"error": str(error)}, failed=True)
        if as_json:
            data = result.data
            return replace(result, said=jsontext.dump(data), facts=data)
        return result

    async def _unknown(self, name: str, context: CommandContext) -> CommandResult:
        nearest = self.nearest(name, await self._others(context) if self._others is not None else ())
        hint = f"Did you mean {', '.join('/' + near for near in nearest)}? " if nearest else ""
        text = (
            f"There is no command /{name}; nothing was done. {hint}/help lists all of them; with a blank before the "
            "slash it is a message."
        )
        return CommandResult(
            text, {"error": "unknown command", "name": name, "nearest": list(nearest)}, failed=True
        )


@dataclass(frozen=True, slots=True)
class BoundCommands:
    """The registry together with what its commands need."""

    registry: Registry
    context: CommandContext

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all commands, without aliases."""
        return tuple(command.name for command in self.registry)

    def takes(self, line: str) -> bool:
        """Whether a line is for the registry, though it may not know it, and not a message."""
        return is_for_registry(line, self.context)

    async def run(self, line: str) -> CommandResult:
        """Run what the line says, slash included."""
        return await self.registry.run(line, self.context)


def without_terminal(line: str, result: CommandResult) -> CommandResult:
    """The answer to `line` where there is no session in a terminal that could open another one, an editor, or end.

    What goes to the clipboard there is the text of the answer, and what went back is told by it.
    """
    if isinstance(result.action, (OpenSession, Quit, OpenEditor)):
        name = f"/{split_line(line)[0]}"
        return CommandResult(f"{name} is for a session in the terminal; nothing was done.", failed=True)
    return result


def is_command(text: str) -> bool:
    """True where a draft is a slash command and not a message that happens to begin with a path.

    `/help` and `/resume x` are commands; `/etc/hosts is empty` and `/* a comment */` are not.
    """
    if not text.startswith("/"):
        return False
    name, _ = split_line(text)
    return text[1:].startswith(name) and bool(_NAME.fullmatch(name))


def is_for_registry(text: str, context: CommandContext) -> bool:
    """True where a draft is for the registry; what invokes a skill is a message, and mcode's own names come first."""
    if not is_command(text):
        return False
    return context.registry.find(split_line(text)[0]) is not None or context.agent.skills.meant(text) is None


def split_line(line: str) -> tuple[str, str]:
    """The name and the text after it of a line such as `/resume "my session"`."""
    parts = line.strip().removeprefix("/").split(maxsplit=1)
    return (parts[0] if parts else ""), (parts[1].strip() if len(parts) > 1 else "")


def _check_flag(rest: str) -> None:
    """Raises UsageError where the first or last word looks like a mistyped --json, the one option of all commands."""
    for word in {rest.split(" ", 1)[0], rest.rsplit(" ", 1)[-1]}:
        if word.startswith("--") and near_words(word, ("--json",), 1):
            raise UsageError(f"There is no option {word}; nothing was done. Did you mean --json?")


def _without_json_flag(rest: str) -> tuple[str, bool]:
    if rest == "--json":
        return "", True
    if rest.endswith(" --json"):
        return rest.removesuffix("--json").strip(), True
    if rest.startswith("--json "):
        return rest.removeprefix("--json").strip(), True
    return rest, False
