"""What one turn of the guide is made of: the request, what came back so far, and how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.guide.history import STEPS, step_reached
from mcode.model.guide.reading import reason_of, total_of, was_denied, was_stopped
from mcode.model.guide.words import AT_THE_END, ON_THE_WAY
from mcode.model.script import Reply, reply, use

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.model.script import RequestView, Result

SIGNATURE = "(I am mcode's offline guide: a script, not a model.)"

GO_ON = "\n\nType `next` to go on."


class Flow:
    """One turn: begun by the user's message, gone on with by the results of the guide's own calls."""

    def __init__(self, view: RequestView, opening: str = "") -> None:
        """`opening`: what stands before the first words of the turn."""
        self.view = view
        self.results = view.turn_results
        """The results of this turn's calls so far, in order."""
        self.heading = ""
        """Stands before the first words of the turn, in their line."""
        self._opening = opening

    @property
    def begins(self) -> bool:
        """True where nothing was called yet in this turn."""
        return not self.results

    @property
    def last(self) -> Result:
        """The newest result. Only where the turn does not begin."""
        return self.results[-1]

    def call(self, words: str, tool: str, arguments: JsonObject, without: str = "") -> Reply:
        """Say something and call a tool; where this session has no such tool, say `without` or that."""
        if tool in self.view.tool_names:
            return reply(self._opened(words), use(tool, arguments))
        missing = (
            without or f"This session has no `{tool}` tool (a rule may hide it), so I leave this out.{GO_ON}"
        )
        return self.say(missing)

    def say(self, words: str) -> Reply:
        """Say something; the turn ends with it."""
        if not self.heading and step_reached(self.view) >= STEPS:
            words = words.removesuffix(GO_ON).replace(ON_THE_WAY, AT_THE_END)
        if self.view.turns == 1 and not self.begins:
            # A run that shows only the last words, as `-p` does, has not shown the introduction.
            words = f"{words}\n\n{SIGNATURE}"
        return reply(self._opened(words))

    def trouble(self, unchanged: str, of: Result | None = None) -> str:
        """Why a call brought nothing, the newest if no other is given, kindly. `unchanged` says what is as it was."""
        failed = of or self.last
        if was_denied(failed):
            return (
                f"The answer was no, and that is fine: the call did not run. {unchanged} "
                "A model is told so, in the same words that I got, and has to go another way:\n\n"
                f"> {reason_of(failed)}"
            )
        if was_stopped(failed):
            return f"You stopped that. {unchanged}\n\n> {reason_of(failed)}"
        return (
            f"That did not work, and nothing is lost: a failed call is just another result that a model reads. "
            f"{unchanged} The tool said:\n\n> {reason_of(failed)}"
        )

    def _opened(self, words: str) -> str:
        if not self.begins:
            return words
        headed = f"{self.heading} {words}" if self.heading else words
        return f"{self._opening}\n\n{headed}" if self._opening else headed


def plural(count: int, one: str, many: str = "") -> str:
    """`1 file`, `1,234 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(text: str, found: tuple[str, ...], limit: int = 6) -> str:
    """How many files a listing names, and the first of them; honest where the listing is not the whole."""
    total, least = total_of(text, len(found))
    shown = ", ".join(f"`{name}`" for name in found[:limit])
    more = f" and {total - limit:,} more" if total > limit else ""
    return f"{'At least ' if least else ''}{plural(total, 'file')}: {shown}{more}."
