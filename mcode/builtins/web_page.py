"""What a page says: readable text of the bytes that a web server sent."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass

from mcode.text import Kind, clean

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset(
    {
        *("application/json", "application/xml", "application/javascript", "application/x-javascript"),
        *(
            "application/yaml",
            "application/x-yaml",
            "application/toml",
            "application/x-ndjson",
            "image/svg+xml",
        ),
    }
)
_MUCH = 200
"""Characters of a page's main part below which the whole page is shown instead."""


@dataclass(frozen=True, slots=True)
class Page:
    """The readable content of an answer."""

    title: str
    text: str
    """Markdown for a page, else the text as it was sent; safe for the model."""


def is_readable(content_type: str) -> bool:
    """Whether there is text in an answer of this type."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind in _HTML | _TEXT or kind.startswith("text/") or kind.endswith(("+json", "+xml"))


def read_page(body: bytes, content_type: str, url: str) -> Page:
    """Make a body readable. Takes time for large ones; meant for a thread."""
    kind = content_type.partition(";")[0].strip().lower()
    charset = _charset(content_type)
    if kind in _HTML or (not kind and body.lstrip()[:1] == b"<"):
        return _read_html(body, charset, url)
    text = body.decode(charset or "utf-8-sig", "replace")
    if kind.endswith("json") and len(text) < 1_000_000:
        text = _indented(text)
    return Page("", clean(text, Kind.MODEL).strip())


def _read_html(body: bytes, charset: str, url: str) -> Page:
    """The main part as Markdown, without navigation and other furniture; the whole where nothing stands out."""
    import turbohtml

    document = turbohtml.parse(body, encoding=charset or None, positions=False)
    heading = document.select_one("title")
    title = " ".join(heading.text.split()) if heading is not None else ""
    document.resolve_links(url)
    main = document.main_content()
    text = main.to_markdown() if main is not None else ""
    if len(text) < _MUCH:
        text = document.to_markdown()
    return Page(clean(title, Kind.MODEL)[:300], clean(text, Kind.MODEL).strip())


def _charset(content_type: str) -> str:
    """The encoding that a Content-Type names, if Python has it."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            try:
                return codecs.lookup(value.strip(" \"'")).name
            except (LookupError, ValueError):
                return ""
    return ""


def _indented(text: str) -> str:
    """JSON in lines, so that a cut falls between values and not somewhere in the only line."""
    try:
        return (
            json.dumps(json.loads(text), indent=1, ensure_ascii=False) if "\n" not in text.strip() else text
        )
    except (ValueError, RecursionError):
        return text
