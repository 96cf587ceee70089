"""The tables of words: that they can be read, and that they say what they should."""

from __future__ import annotations

import pytest

from mcode.catalog.entry import Weights
from mcode.catalog.language import meaning_of, translator_of
from mcode.catalog.query import groups_of
from mcode.catalog.segment import languages_of, segment
from mcode.catalog.spelling import Lexicon
from mcode.catalog.vocabulary.load import (
    CONCEPT_COLUMNS,
    LISTS,
    TABLES,
    glossary,
    lines_of,
    phrase_of,
    vocabulary,
)

ENGLISH = sorted(path for path in (TABLES / "english").glob("*.txt") if path.stem not in LISTS)
LANGUAGES = sorted(path.stem for path in (TABLES / "glossary").glob("??.txt"))


@pytest.mark.parametrize("table", ENGLISH, ids=lambda path: path.stem)
def test_every_line_of_an_english_table_relates_words(table: object) -> None:
    for line in lines_of(TABLES / "english" / str(table).rsplit("/", 1)[-1]):
        asked, arrow, meant = line.partition(">")
        parts = [part.strip() for part in (meant if arrow else asked).split(",")]
        assert all(parts), line
        assert arrow or len(parts) > 1, f"{line!r} relates nothing"
        assert len(set(parts)) == len(parts), f"{line!r} repeats itself"
        assert line.isascii(), line


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_of_a_glossary_has_two_sides(language: str) -> None:
    for line in lines_of(TABLES / "glossary" / f"{language}.txt"):
        foreign, equals, english = line.partition("=")
        assert equals, line
        assert foreign.split(), line
        assert english.split(), line
        assert english.isascii(), line


def test_every_row_of_the_concepts_has_a_cell_for_each_language() -> None:
    for line in lines_of(TABLES / "glossary" / "concepts.txt"):
        cells = line.split("|")
        assert len(cells) == len(CONCEPT_COLUMNS) + 1, line
        assert all(cell.strip() for cell in cells), line


def test_synonyms_hold_both_ways_and_hints_only_one() -> None:
    meanings = vocabulary().meanings
    assert phrase_of("remove") in meanings[phrase_of("delete")]
    assert phrase_of("delete") in meanings[phrase_of("remove")]
    assert phrase_of("merge") in meanings[phrase_of("squash")]
    assert phrase_of("squash") not in meanings[phrase_of("merge")]


def test_a_word_that_has_no_meanings_of_its_own_may_be_meant_for_those_that_mean_it() -> None:
    meanings = vocabulary().meanings
    assert phrase_of("drug") in meanings[phrase_of("medicine")]
    assert phrase_of("recipient") not in meanings.get(phrase_of("to"), {}), (
        "a word that says nothing stays so"
    )


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("call the meeting off", ["call off", "meeting"]),
        ("look something up on the internet", ["look up", "internet"]),
        ("turn this drawing into a picture", ["turn into", "drawing", "picture"]),
        ("put a thumbs up on it", ["put", "thumbs up"]),
        ("search the files out there", ["search", "files"]),
    ],
)
def test_a_verb_and_its_particle_belong_together_however_far_apart_they_stand(
    asked: str, read: list[str]
) -> None:
    assert [group.text for group in groups_of(asked, Lexicon({}), Weights())] == read


def test_no_word_means_itself_or_more_than_a_search_can_bear() -> None:
    for phrase, others in vocabulary().meanings.items():
        assert phrase not in others
        assert len(others) <= 40, phrase


@pytest.mark.parametrize(
    ("language", "word", "english"),
    [
        ("de", "gelöschte", None),
        ("de", "Dateien", "file"),
        ("de", "dateien", "file"),
        ("de", "kalendertermin", "calendar event"),
        ("fr", "fichiers", "file"),
        ("es", "archivos", "file"),
        ("pt", "arquivos", "file"),
        ("ru", "файлами", "file"),
        ("it", "messaggi", "message"),
        ("nl", "berichten", "message"),
        ("de", "gibtesnicht", None),
    ],
)
def test_words_of_other_languages_are_known_in_their_forms(
    language: str, word: str, english: str | None
) -> None:
    meanings = meaning_of(language, word)
    if english is None:
        assert not meanings
    else:
        assert meanings is not None
        assert phrase_of(english) in meanings


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("wie kann ich eine datei umbenennen", "de"),
        ("je voudrais envoyer un message", "fr"),
        ("quiero borrar un archivo", "es"),
        ("quero apagar um arquivo", "pt"),
        ("отправить сообщение", "ru"),
        ("vorrei cancellare un messaggio", "it"),
    ],
)
def test_the_language_of_a_query_is_told(query: str, language: str) -> None:
    translator = translator_of(query.split(), frozenset[str]())
    assert translator.foreign
    assert translator.languages == (language,)


def test_english_is_not_taken_for_another_language() -> None:
    for query in ("list the files in a directory", "a commit on main", "die on error", "send it to me"):
        assert not translator_of(query.split(), frozenset[str]()).foreign


@pytest.mark.parametrize(
    ("run", "parts"),
    [
        ("删除文件", ["删除", "文件"]),
        ("請幫我刪除檔案夾", ["请", "帮我", "删除"]),
        ("ファイルを削除", ["ファイル", "を", "削除"]),
        ("파일삭제", ["파일", "삭제"]),
        ("拉取请求", ["拉取请求"]),
    ],
)
def test_text_without_blanks_is_cut_into_known_words(run: str, parts: list[str]) -> None:
    found = [word for word, meanings in segment(run, languages_of(run)) if meanings is not None]
    assert found[: len(parts)] == parts


def test_what_no_glossary_knows_stays_together() -> None:
    assert ("魑魅魍魉", None) in segment("删除魑魅魍魉", ("zh", "ja"))


def test_glossaries_know_some_hundred_words_each() -> None:
    assert len(glossary("zh").meanings) > 1_500
    for language in ("ja", "ko", "de", "fr", "es", "pt", "ru"):
        assert len(glossary(language).meanings) > 450, language
