"""Images that the user has pasted: kept with the session, and named in a message by a label such as `[Image #1]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.errors import UsageError
from mcode.files import private_directory, replace_file
from mcode.images.store import DIRECTORY, is_pasted, pasted_name

if TYPE_CHECKING:
    from pathlib import Path

_LABEL = re.compile(r"\[Image #(\d{1,4})\]")


class PastedImages:
    """The pasted images of one session. A label is text like any other: it can be queued, kept and taken back."""

    def __init__(self, session: Path) -> None:
        """`session`: its directory, in which the images go along where the session is copied."""
        self._directory = session / DIRECTORY

    def keep(self, data: bytes) -> tuple[str, str]:
        """Keep an image; its label, and what it is. Takes a while: for a thread.

        Raises UsageError where it is none that can be shown, and StorageError.
        """
        from mcode.images.picture import RefusedImageError, take_picture

        try:
            picture = take_picture(data, "")
        except RefusedImageError as error:
            raise UsageError(f"The image was not taken: {error}.") from None
        private_directory(self._directory)
        number = 1 + max((int(path.stem.removeprefix("pasted-")) for path in self._files("*")), default=0)
        replace_file(self._directory / pasted_name(number, picture.form.media_type), picture.data)
        return f"[Image #{number}]", picture.facts

    def named_in(self, text: str) -> tuple[tuple[str, Path | None], ...]:
        """Each label in a message, once, with its file; None where the session has no image of that number."""
        numbers = dict.fromkeys(_LABEL.findall(text))
        return tuple((f"[Image #{number}]", next(iter(self._files(number)), None)) for number in numbers)

    def _files(self, number: str) -> list[Path]:
        found = self._directory.glob(f"pasted-{number}.*") if self._directory.is_dir() else ()
        return [path for path in found if is_pasted(path)]
