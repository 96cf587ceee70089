"""The question about a folder that is not trusted, in the plain terminal before a session is open."""

from __future__ import annotations

import shutil
import sys

from mcode.streams import write
from mcode.text import Kind, clean
from mcode.ui.wrap import wrap_words

WORDS = ("trust", "never")

TRIES = 3
"""Lines that may be no answer before the folder stays as it is."""

HINT = (
    "Type `trust` and Enter to trust all of this. Enter alone: not now, mcode goes on without it. "
    "`never` and Enter: not asked again until something changes."
)


class FolderAsker:
    """Prints the page and reads one word; fulfils `wiring.folder_trust.FolderQuestion`.

    Nothing is chosen beforehand, and no key alone can say yes: what was typed too early is no answer. A page that
    was put off is not asked about again in the same run, though another session opens in it.
    """

    def __init__(self) -> None:
        self._put_off: set[str] = set()

    async def ask(self, page: str) -> str:
        """`trust`, `never`, or empty text for everything else: an empty line, Ctrl+C, the end of the input."""
        if page in self._put_off:
            return ""
        word = await self._ask(page)
        if not word:
            self._put_off.add(page)
        return word

    async def _ask(self, page: str) -> str:
        from prompt_toolkit import PromptSession

        _show(f"{page}\n\n{HINT}")
        session: PromptSession[str] = PromptSession()
        for _ in range(TRIES):
            try:
                text = await session.prompt_async("Trust this folder? [not now] ")
            except (EOFError, KeyboardInterrupt):
                return ""
            word = text.strip().lower()
            if not word or word in WORDS:
                return word
            _show(f"`{text.strip()}` is none of these answers. {HINT}")
        return ""


def _show(text: str) -> None:
    """Print text with its lines broken at words; nothing is cut, and what goes on in a further row stands deeper."""
    width = max(shutil.get_terminal_size().columns - 1, 20)
    for line in clean(text, Kind.BLOCK).split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        rows = wrap_words(line, width, indent + 4 if indent else 0)
        write(sys.stdout, "".join(f"{row}\n" for row in rows or [""]))
