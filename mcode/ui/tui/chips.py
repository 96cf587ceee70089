"""Pastes that stand in the draft as one short label: long ones, and those with characters a terminal must not get."""

from __future__ import annotations

from mcode.text import Kind, clean

MOST_ROWS = 20
MOST_CHARACTERS = 2_000
"""A paste beyond either is folded into a label."""


def with_plain_line_ends(text: str) -> str:
    """Every line end as a line feed, as terminals deliver pastes with any of three."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Chips:
    """Which label in the draft stands for which text."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def paste(self, text: str) -> str:
        """What is to stand in the draft for a paste: a mention for each image file that it names, else as `fold`."""
        from mcode.ui.clipboard_image import mentions_of

        return mentions_of(text) or self.fold(with_plain_line_ends(text))

    def fold(self, text: str) -> str:
        """What is to stand in the draft for a text that comes from elsewhere: itself, or a label."""
        rows = text.count("\n") + (not text.endswith("\n"))
        hidden = clean(text, Kind.BLOCK) != text
        if rows <= MOST_ROWS and len(text) <= MOST_CHARACTERS and not hidden:
            return text
        known = next((label for label, each in self._texts.items() if each == text), "")
        if known:
            return known
        what = f"{rows:,} lines" if rows > 1 else f"{len(text):,} characters"
        label = self._fresh(f"pasted {what}{', some hidden' if hidden else ''}")
        self._texts[label] = text
        return label

    def expand(self, draft: str) -> str:
        """The draft with every label replaced by its text."""
        for label, text in self._texts.items():
            draft = draft.replace(label, text)
        return draft

    def label_before(self, line: str) -> str:
        """The label that the text of a line up to the cursor ends with; empty text where it ends otherwise."""
        return next((label for label in self._texts if line.endswith(label)), "")

    def label_after(self, line: str) -> str:
        """The label that the text of a line from the cursor on begins with; empty text where there is none."""
        return next((label for label in self._texts if line.startswith(label)), "")

    def forget(self) -> None:
        """The draft is gone."""
        self._texts.clear()

    def _fresh(self, words: str) -> str:
        label, number = f"[{words}]", 1
        while label in self._texts:
            number += 1
            label = f"[{words}, {number}]"
        return label
