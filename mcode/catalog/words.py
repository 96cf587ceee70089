"""Cuts names and prose into words, and words into stems: the same for what is indexed and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcode.catalog.vocabulary.characters import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD_LIMIT = 40
"""Letters of a word that are read; what is longer is data rather than a word."""

STEM_CACHE = 20_000
"""Words whose stems are remembered."""

PIECE_CACHE = 20_000
"""Pieces of text whose words and terms are remembered."""

STEMS = Path(__file__).with_name("vocabulary") / "stems.txt"
"""Lines of a word and its stem."""

UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean characters, as the inside of a character class."""

PLURAL_FORMS = frozenset({"news", "atlas", "cosmos", "bias", "andes", "skis"})
"""Words that only look like plurals."""

_PLURAL = re.compile(r"(?=.*[aeiou]..)(?!.*(?:ies|sses)$).*[^su]s")
_ENDING = re.compile(r"(?:[eiys]|ed|ing|er|ator|ic|al|ll|ful|ism|ment|ent|ant|ion|ly)$")
_BLANKED = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_SQUEEZED = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}
_ANY_WORD = re.compile(f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_CASE_CHANGE = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_CASE_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+[0-9]*(?![a-z])|[A-Z]?[a-z0-9]+")
_ACRONYMS = re.compile(r"^([A-Z]{2,})s$")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]+[^s]s")
_LETTERS = re.compile(r"[^\W\d_]{3,}")


class Stemmer(Protocol):
    """What one of the Snowball stemmers offers."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802 -- the library's name


@cache
def stemmer(language: str) -> Stemmer:
    """The Snowball stemmer of a language, by its English name in lower case."""
    import snowballstemmer

    return snowballstemmer.stemmer(language)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- the library has no types


@lru_cache(maxsize=STEM_CACHE)
def stem(word: str) -> str:
    """The English stem of one lower-case word; words of other scripts, short words and numbers as they are."""
    if not word.isascii():
        return _fold(word)
    if len(word) < 4 or not word.isalpha():
        return word
    return known_stems().get(word) or work_out_stem(word)


def work_out_stem(word: str) -> str:
    """The English stem of a lower-case word of at least four letters, without the table."""
    if word[-1] == "s" and _CONSONANTS.fullmatch(word):
        return word[:-1]  # the plural of an abbreviation: pdfs
    # The stemmer takes some 60 us for a word, so it is spared what it would leave alone or has done already.
    if word[-1] == "s" and word not in PLURAL_FORMS and _PLURAL.fullmatch(word):
        return stem(word[:-1])
    return stemmer("english").stemWord(word) if is_work(word) else word


def is_work(word: str) -> bool:
    """Whether the stemmer may do something to a word."""
    return _ENDING.search(word) is not None


@cache
def known_stems() -> dict[str, str]:
    """The stems of words that the tables of the search hold, worked out beforehand by `tools/stems.py`."""
    return dict(line.split() for line in STEMS.read_text("ascii").splitlines())


@lru_cache(maxsize=4_000)
def _fold(word: str) -> str:
    """Without accents, so that a word is found however it was typed."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter)
    )


def fold(text: str) -> str:
    """Lower case without accents; Chinese, Japanese and Korean in their composed, full form."""
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFKC", text).lower()
    return "".join(
        part if _UNSPACED_RUN.fullmatch(part) else _fold(part)
        for part in re.split(f"([{UNSPACED}]+)", composed)
    )


def is_unspaced(word: str) -> bool:
    """Whether a word is a run of Chinese, Japanese or Korean characters."""
    return not word.isascii() and _UNSPACED_RUN.match(word) is not None


def has_unspaced(text: str) -> bool:
    """Whether a text holds Chinese, Japanese or Korean characters."""
    return not text.isascii() and _UNSPACED_RUN.search(text) is not None


def pieces(text: str) -> list[str]:
    """Runs of letters and digits as they stand; Chinese, Japanese and Korean runs apart from the rest."""
    if text.isascii():
        return text.translate(_BLANKED).split()
    return _ANY_WORD.findall(unicodedata.normalize("NFKC", text))


def split(text: str, whole: frozenset[str] = frozenset()) -> Iterator[str]:
    """
    Lower-case words of prose or of an identifier: cut at blanks, punctuation, `_`, `-` and changes of case.

    `whole` are words, in lower case, that stay in one piece whatever their capitals say (GitHub).
    """
    for piece in pieces(text):
        yield from parts_of(piece, whole)


@lru_cache(maxsize=PIECE_CACHE)
def parts_of(piece: str, whole: frozenset[str]) -> tuple[str, ...]:
    """One piece, cut at changes of case; `whole` as in `split`."""
    if len(piece) < 3 or not _CASE_CHANGE.search(piece):
        return (piece[:WORD_LIMIT].lower(),)
    piece = piece[: 4 * WORD_LIMIT]
    plural = _ACRONYMS.fullmatch(piece)
    if plural:
        return (plural[1].lower(),)
    if piece.lower() in whole or not piece.isascii():
        return (piece[:WORD_LIMIT].lower(),)
    return tuple(_ACRONYMS.sub(r"\1", part)[:WORD_LIMIT].lower() for part in _CASE_PART.findall(piece))


def terms(text: str, whole: frozenset[str] = frozenset()) -> list[str]:
    """What an index holds of a text, in order; `whole` as in `split`."""
    return list(chain.from_iterable(map(_terms_by_piece(whole, False).__getitem__, pieces(text))))


def prose_terms(text: str, whole: frozenset[str] = frozenset()) -> list[str]:
    """The same of prose, in which a name with odd capitals (BibTeX) also stands as people type it."""
    return list(chain.from_iterable(map(_terms_by_piece(whole, True).__getitem__, pieces(text))))


class _TermsByPiece(dict[str, tuple[str, ...]]):
    """The terms of pieces of text, each worked out once: of all that indexing does, looking them up is the most."""

    def __init__(self, whole: frozenset[str], is_prose: bool) -> None:
        super().__init__()
        self._whole = whole
        self._is_prose = is_prose

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if len(self) >= PIECE_CACHE:
            self.clear()
        parts = parts_of(piece, self._whole)
        found = tuple(term for word in parts for term in terms_of(word))
        if self._is_prose and len(parts) > 1 and piece[0].isupper() and min(map(len, parts)) < 3:
            found += (stem(piece[:WORD_LIMIT].lower()),)
        self[piece] = found
        return found


@cache
def _terms_by_piece(whole: frozenset[str], is_prose: bool) -> _TermsByPiece:
    return _TermsByPiece(whole, is_prose)


def terms_of(word: str) -> Iterator[str]:
    """The terms of one word: its stem, pairs of Chinese characters, the letters beside its digits."""
    if is_unspaced(word):
        yield from pairs(word)
        return
    yield stem(word)
    if not word.isalpha() and not word.isdigit():
        for letters in _LETTERS.findall(word):
            yield stem(letters)


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character stands for itself."""
    run = simplified(run)
    if len(run) == 1:
        return [run]
    return [run[start : start + 2] for start in range(len(run) - 1)]


def plain(name: str) -> str:
    """A name without letter case and punctuation, for comparing what was typed with what exists."""
    if name.isascii():
        return name.translate(_SQUEEZED)
    return "".join(pieces(name)).lower()
