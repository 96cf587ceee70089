"""How names and prose are cut into words and stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcode.catalog import words
from mcode.catalog.vocabulary.load import brands


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


def test_words_that_keep_their_ending_are_what_the_stemmer_makes_of_them() -> None:
    for word in ("branch", "disk", "stop", "review", "box", "zoom", "schema", "topic", "email", "github"):
        assert words.stem(word) == words.stemmer("english").stemWord(word)


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
