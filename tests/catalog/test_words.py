"""How names and prose are cut into words and stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcode.catalog import words
from mcode.catalog.vocabulary.load import brands, vocabulary
from tools.stems import table


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("create_pull_request", "create pull request"),
        ("getFileContents", "get file contents"),
        ("API-post-page", "api post page"),
        ("listHTTPServers", "list http servers"),
        ("k8s_pods", "k8s pods"),
        ("getS3Object", "get s3 object"),
        ("listPRs", "list pr"),
        ("PRs", "pr"),
        ("GitHub issues on YouTube", "github issues on youtube"),
        ("read/write.all:now", "read write all now"),
        ("Straße_prüfen", "straße prüfen"),
        ("搜索files", "搜索 files"),
        ("", ""),
    ],
)
def test_names_are_cut_at_case_and_punctuation(name: str, parts: str) -> None:
    assert list(words.split(name, brands())) == parts.split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("files", "file"),
        ("searching", "search"),
        ("queries", "query"),
        ("pdfs", "pdf"),
        ("deployments", "deployment"),
        ("café", "cafe"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert words.stem(one) == words.stem(other)


def test_stems_are_those_of_the_stemmer_although_it_is_often_spared() -> None:
    snowball = words.stemmer("english")
    known = {word for phrase in vocabulary().meanings for word in phrase if word.isalpha() and len(word) > 3}
    endings = (
        "",
        "s",
        "es",
        "ed",
        "ing",
        "er",
        "ers",
        "ation",
        "ations",
        "ly",
        "ment",
        "ments",
        "ator",
        "ness",
    )
    for base in sorted(known)[::23]:
        for ending in endings:
            word = base + ending
            if any(vowel in word[:-2] for vowel in "aeiou"):
                assert words.stem(word) == snowball.stemWord(word), word
    for word in (
        "news",
        "atlas",
        "status",
        "process",
        "analysis",
        "harnesses",
        "directly",
        "separator",
        "series",
    ):
        assert words.stem(word) == snowball.stemWord(word)


def test_words_with_digits_stand_for_themselves_and_for_their_letters() -> None:
    assert list(words.terms_of("base64")) == ["base64", "base"]
    assert list(words.terms_of("k8s")) == ["k8s"]
    assert list(words.terms_of("docx2pdf")) == ["docx2pdf", "docx", "pdf"]


def test_text_without_blanks_becomes_pairs_of_simplified_characters() -> None:
    assert words.terms("刪除檔案") == ["删除", "除档", "档案"]
    assert words.terms("图") == ["图"]


def test_plain_names_compare_without_case_and_punctuation() -> None:
    assert words.plain("mcp__My-Server__Do_It") == words.plain("MCP my server doIt")


@given(st.text())
def test_any_text_can_be_cut(text: str) -> None:
    for term in words.terms(text, brands()):
        assert term
        assert len(term) <= 4 * words.WORD_LIMIT
    words.fold(text)
    words.plain(text)


def test_the_shipped_stems_are_those_of_the_stemmer_and_of_the_words_of_the_tables() -> None:
    assert words.STEMS.read_text("ascii") == table()


@given(st.text(max_size=60))
def test_plain_names_are_their_words_joined(name: str) -> None:
    assert words.plain(name) == "".join(words.pieces(name)).lower()


def test_a_name_with_odd_capitals_is_found_in_prose_however_it_is_typed() -> None:
    assert {"bib", "bibtex"} <= set(words.prose_terms("Export BibTeX citations"))
    assert "createissu" not in words.prose_terms("createIssue")
    assert "bibtex" not in words.terms("BibTeX")
