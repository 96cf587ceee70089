"""Decodes a file's bytes and encodes them again, so that unedited parts come back byte for byte."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from mcode.builtins.refusal import RefusalError

BINARY_PROBE = 8_192
"""Bytes at the beginning of a file in which a NUL marks it as binary."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's text is written in bytes."""

    codec: str
    """Python's name: `utf-8`, `utf-16-le`, `utf-16-be` or `latin-1`."""
    mark: bytes = b""
    """The byte order mark at the beginning."""
    label: str = "UTF-8"
    """The name for people."""

    @property
    def note(self) -> str:
        """What the model is told of an encoding that is not plain UTF-8; empty for that."""
        if self.codec == "latin-1":
            return "The file is not UTF-8: shown as Latin-1; Edit leaves its other bytes as they are."
        return f"The file is {self.label}; Edit and Write keep that." if self.mark else ""


UTF_8 = Encoding("utf-8")
LATIN_1 = Encoding("latin-1", label="Latin-1")
_MARKED = (
    Encoding("utf-8", codecs.BOM_UTF8, "UTF-8 with a byte order mark"),
    Encoding("utf-16-le", codecs.BOM_UTF16_LE, "UTF-16 (little endian)"),
    Encoding("utf-16-be", codecs.BOM_UTF16_BE, "UTF-16 (big endian)"),
)


@dataclass(frozen=True, slots=True)
class Content:
    """A file's text. `encode(encoding, exact)` gives exactly the bytes it was decoded from."""

    exact: str
    """The text with its line endings as they stand in the file."""
    encoding: Encoding

    @property
    def text(self) -> str:
        r"""The text as it is shown and matched: `\r\n` as `\n`."""
        return self.exact.replace("\r\n", "\n")


def decode(raw: bytes) -> Content:
    """Read a file's bytes as text: by their mark, else as UTF-8, else as Latin-1, which takes every byte."""
    for encoding in (*_MARKED, UTF_8):
        if raw.startswith(encoding.mark):
            try:
                exact = raw[len(encoding.mark) :].decode(encoding.codec, _errors(encoding))
            except UnicodeDecodeError:
                continue
            return Content(exact, encoding)
    return Content(raw.decode(LATIN_1.codec), LATIN_1)


def encode(encoding: Encoding, text: str) -> bytes:
    """Write text in an encoding, with its mark. Raises RefusalError for a character that it does not have."""
    try:
        return encoding.mark + text.encode(encoding.codec, _errors(encoding))
    except UnicodeEncodeError as error:
        raise _missing(error, encoding) from None


def require_encodable(encoding: Encoding, text: str) -> None:
    """Raise RefusalError for a character that cannot be written in an encoding."""
    try:
        text.encode(encoding.codec)
    except UnicodeEncodeError as error:
        raise _missing(error, encoding) from None


def binary_kind(raw: bytes) -> str | None:
    """Name the kind of a file that is not text, by its first bytes; None for text."""
    for magic, name in _MAGIC:
        if raw.startswith(magic):
            return name
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "damaged UTF-16 text" if decode(raw).encoding is LATIN_1 else None
    return "a binary file" if b"\0" in raw[:BINARY_PROBE] else None


def without_surrogates(text: str) -> str:
    """Text that can be written as UTF-8: half surrogate pairs become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("�" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document made of one)"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x7fELF", "an ELF program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (codecs.BOM_UTF32_LE, "UTF-32 text, which mcode does not read"),
    (codecs.BOM_UTF32_BE, "UTF-32 text, which mcode does not read"),
)


def _missing(error: UnicodeEncodeError, encoding: Encoding) -> RefusalError:
    character = ord(error.object[error.start])
    return RefusalError(
        f"The new text has the character U+{character:04X}, which cannot be written in the file's encoding "
        f"({encoding.label}). Nothing was changed. Write the text without it, or convert the file first with Bash."
    )


def _errors(encoding: Encoding) -> str:
    return "surrogatepass" if encoding.codec.startswith("utf-16") else "strict"
