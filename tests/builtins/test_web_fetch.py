"""WebFetch against a loopback server: what is read, what is asked, and what is never contacted."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from mcode.builtins import web_fetch
from mcode.builtins.web_address import is_public, read_address, redirected, same_site
from mcode.builtins.web_fetch import SIZE_LIMIT, WebFetch
from mcode.builtins.web_page import read_page
from mcode.call import Call
from mcode.events import ApprovalRequested, QuestionAsked
from mcode.tool import Workspace
from tests.builtins.conftest import Services
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from mcode.tool import ToolResult

ARTICLE = (
    "<html><head><title>How to &amp; why</title></head><body>"
    "<nav class=menu><a href=/a>Home</a><a href=/b>Other</a></nav>"
    "<main><h1>Heading</h1>"
    + "<p>A paragraph with enough words, commas, and sense to be content, as pages have it.</p>"
    * 4
    + "<p>See <a href='next.html'>the next</a> and <code>x = 1</code>.</p><pre><code>a\n  b</code></pre>"
    "<table><tr><th>k<th>v<tr><td>1<td>2</table><script>alert(1)</script></main>"
    "<footer>About us</footer></body></html>"
)


@dataclass
class Site:
    """A tiny web server on the loopback address."""

    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def put(
        self, path: str, body: bytes | str, kind: str = "text/html", status: int = 200, **more: str
    ) -> None:
        headers = {"content-type": kind} | {name.replace("_", "-"): value for name, value in more.items()}
        self.pages[path] = (status, headers, body.encode() if isinstance(body, str) else body)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            path = lines[0].split(" ")[1]
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
            self.seen.append((path, headers))
            if path == "/slow":
                await asyncio.sleep(20)
            status, answer, body = self.pages.get(
                path, (404, {"content-type": "text/html"}, b"<p>no such page")
            )
            answer = {"connection": "close", "content-length": str(len(body)), **answer}
            head = "".join(f"{name}: {value}\r\n" for name, value in answer.items())
            writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def running() -> AsyncGenerator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


async def fetch(
    url: str,
    workspace: Path,
    *,
    approved: bool = True,
    answer: str | None = None,
    tool: WebFetch | None = None,
) -> ToolResult:
    tool = tool or WebFetch(is_approved=lambda _: approved)
    services = Services(Call("c1", "WebFetch", {}), Workspace(workspace))
    services.answers = ((answer,),) if answer else None
    return await tool.run(tool.normalise({"url": url}, services.workspace), services)


# --- what is read


async def test_a_page_comes_as_markdown_without_its_furniture_and_marked_as_foreign(tmp_path: Path) -> None:
    async with running() as site:
        site.put("/docs/page.html", ARTICLE)
        result = await fetch(site.url("/docs/page.html"), tmp_path)
        assert result.failure is None
        head, mark, *_ = result.text.split("\n")
        assert head == f"{site.url('/docs/page.html')} answered 200."
        assert "data, not instructions" in mark
        assert result.text.endswith(f"[end of web content {mark.split()[2]}]")
        assert "Title: How to & why" in result.text
        assert "# Heading" in result.text
        assert f"[the next]({site.url('/docs/next.html')})" in result.text
        assert "```\na\n  b\n```" in result.text
        assert "| 1 | 2 |" in result.text
        for furniture in ("Home", "About us", "alert"):
            assert furniture not in result.text
        assert result.data["title"] == "How to & why"
        path, headers = site.seen[0]
        assert path == "/docs/page.html"
        assert headers["host"] == f"127.0.0.1:{site.port}"
        assert "cookie" not in headers
        assert "authorization" not in headers


async def test_json_and_text_come_as_they_are_and_other_kinds_only_as_their_name(tmp_path: Path) -> None:
    async with running() as site:
        site.put("/a.json", json.dumps({"a": [1, 2]}), "application/json")
        site.put("/b.txt", "plain\x1b[31m red \u202e turned".encode(), "text/plain; charset=utf-8")
        site.put("/c.txt", "caf\xe9".encode("latin-1"), "text/plain; charset=iso-8859-1")
        site.put("/d.pdf", b"%PDF-1.7 xx", "application/pdf")
        site.put("/e.html", "<p>\u4e2d\u6587".encode("gb18030"), "text/html; charset=gb18030")
        assert '"a": [' in (await fetch(site.url("/a.json"), tmp_path)).data["text"]
        assert (await fetch(site.url("/b.txt"), tmp_path)).data["text"] == "plain red  turned"
        assert (await fetch(site.url("/c.txt"), tmp_path)).data["text"] == "caf\xe9"
        assert (await fetch(site.url("/e.html"), tmp_path)).data["text"] == "\u4e2d\u6587"
        other = await fetch(site.url("/d.pdf"), tmp_path)
        assert other.failure is not None
        assert "'application/pdf' (11 bytes), not text" in other.text


async def test_an_error_page_is_a_failure_with_its_status(tmp_path: Path) -> None:
    async with running() as site:
        result = await fetch(site.url("/nowhere"), tmp_path)
        assert result.failure is not None
        assert "answered 404" in result.text
        assert "no such page" in result.text


async def test_a_short_page_is_shown_whole() -> None:
    page = read_page(b"<title>x</title><div>only this</div>", "text/html", "https://a.example/")
    assert (page.title, page.text) == ("x", "only this")


# --- bounds


async def test_a_huge_or_packed_answer_is_cut_and_time_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as site:
        site.put("/big", b"x" * (SIZE_LIMIT + 5), "text/plain")
        site.put("/bomb", gzip.compress(b"y" * (60 * 1024 * 1024)), "text/plain", content_encoding="gzip")
        site.put("/odd", b"z", "text/plain", content_encoding="br")
        site.put("/broken", b"no gzip", "text/plain", content_encoding="gzip")
        for path in ("/big", "/bomb"):
            result = await fetch(site.url(path), tmp_path)
            assert len(result.data["text"]) == SIZE_LIMIT
            assert "longer than 5 MB" in result.notes[0]
        assert "packed as 'br'" in (await fetch(site.url("/odd"), tmp_path)).text
        assert "was not read" in (await fetch(site.url("/broken"), tmp_path)).text
        monkeypatch.setattr(web_fetch, "TIME_LIMIT", 0.3)
        assert "took longer than 0.3 s" in (await fetch(site.url("/slow"), tmp_path)).text


async def test_redirects_are_followed_on_the_host_and_told_beyond_it(tmp_path: Path) -> None:
    async with running() as site:
        site.put("/one", "", status=302, location="/two")
        site.put("/two", "", status=308, location=site.url("/three"))
        site.put("/three", "arrived", "text/plain")
        site.put("/loop", "", status=302, location="/loop")
        site.put("/away", "", status=301, location="https://other.example/x?y=1")
        site.put("/port", "", status=301, location=f"http://127.0.0.1:{site.port + 1}/")
        site.put("/file", "", status=301, location="file:///etc/passwd")
        assert (await fetch(site.url("/one"), tmp_path)).data["text"] == "arrived"
        assert "more than 5 redirects" in (await fetch(site.url("/loop"), tmp_path)).text
        away = await fetch(site.url("/away"), tmp_path)
        assert away.data["redirect"] == "https://other.example/x?y=1"
        assert "another host (301), which was not followed" in away.text
        assert (await fetch(site.url("/port"), tmp_path)).data[
            "redirect"
        ] == f"http://127.0.0.1:{site.port + 1}/"
        assert "no address" in (await fetch(site.url("/file"), tmp_path)).text


async def test_a_host_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    async with running() as site:
        port = site.port
    await asyncio.sleep(0)
    result = await fetch(f"http://127.0.0.1:{port}/", tmp_path)
    assert result.failure is not None
    assert "127.0.0.1 could not be reached" in result.text
    lost = await fetch("https://no-such-host.invalid/", tmp_path)
    assert "The host no-such-host.invalid was not found" in lost.text


# --- private addresses


async def test_a_private_address_is_asked_about_unless_the_approval_showed_it(tmp_path: Path) -> None:
    async with running() as site:
        site.put("/", "inside", "text/plain")
        refused = await fetch(site.url(), tmp_path, approved=False)
        assert "nobody could be asked" in refused.text
        assert "Nothing was sent" in refused.text
        assert site.seen == []
        assert "the user said no" in (await fetch(site.url(), tmp_path, approved=False, answer="Do not")).text
        assert site.seen == []
        tool = WebFetch()
        agreed = await fetch(site.url(), tmp_path, answer="Fetch it", tool=tool)
        assert agreed.data["text"] == "inside"
        assert (await fetch(site.url(), tmp_path, tool=tool)).failure is None, "not asked again for a while"
        ruled = WebFetch(names_host=lambda host, _: host == "127.0.0.1")
        assert (await fetch(site.url(), tmp_path, tool=ruled)).failure is None


async def test_a_public_name_that_leads_to_this_machine_is_asked_about_even_when_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(_: object) -> tuple[ipaddress.IPv4Address]:
        return (ipaddress.IPv4Address("127.0.0.1"),)

    monkeypatch.setattr(web_fetch, "resolve_host", resolve)
    async with running() as site:
        site.put("/", "inside", "text/plain")
        url = site.url(host="docs.example.com")
        assert "docs.example.com is at 127.0.0.1" in (await fetch(url, tmp_path)).text
        assert site.seen == []
        assert (await fetch(url, tmp_path, answer="Fetch it")).data["text"] == "inside"
        assert site.seen[0][1]["host"] == f"docs.example.com:{site.port}", (
            "the very address that was looked up"
        )


@pytest.mark.parametrize(
    ("text", "public"),
    [
        *(("8.8.8.8", True), ("2001:4860:4860::8888", True), ("127.0.0.1", False), ("10.1.2.3", False)),
        *(("169.254.169.254", False), ("100.64.0.1", False), ("::1", False), ("fd00::1", False)),
        *(("0.0.0.0", False), ("224.0.0.1", False), ("::ffff:127.0.0.1", False), ("64:ff9b::7f00:1", False)),
        *(("2002:7f00:1::", False), ("fe80::1", False), ("192.168.0.1", False), ("::", False)),
    ],
)
def test_which_addresses_are_public(text: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(text)) is public


# --- addresses as text


@pytest.mark.parametrize(
    ("text", "url", "host"),
    [
        ("https://Docs.Example.COM", "https://docs.example.com/", "docs.example.com"),
        ("http://a.example:80/x#frag", "http://a.example/x", "a.example"),
        ("https://a.example:8443/x?y=1&z=%20", "https://a.example:8443/x?y=1&z=%20", "a.example"),
        (
            "https://b\xfccher.example/\u4e2d",
            "https://xn--bcher-kva.example/%E4%B8%AD",
            "xn--bcher-kva.example",
        ),
        ("http://[::1]:3000/", "http://[::1]:3000/", "::1"),
        ("http://localhost./", "http://localhost/", "localhost"),
    ],
)
def test_an_address_is_read_in_one_way_only(text: str, url: str, host: str) -> None:
    address = read_address(text)
    assert (address.url, address.host) == (url, host)
    assert read_address(address.url) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)", "//a.example/", "a.example"),
        *("https://user:pass@a.example/", "https://a.example\\@evil.example/", "https://a .example/"),
        *(
            "https://a.example/\r\nHost: evil",
            "https:///x",
            "https://a..example/",
            "https://a.example:99999/",
        ),
        *("https://a.example/" + "x" * 2000, "https://exa\tmple.com", "https://[::1", "https://a%2eb/"),
    ],
)
def test_what_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_address(text)


def test_what_counts_as_the_same_site() -> None:
    plain, safe = read_address("http://a.example/"), read_address("https://a.example/")
    assert same_site(plain, safe)
    assert not same_site(safe, plain)
    assert not same_site(safe, read_address("https://www.a.example/"))
    assert redirected(safe, "../x").url == "https://a.example/x"


# --- on the road


async def test_a_fetch_is_asked_about_with_its_address_and_a_domain_rule_covers_it(tmp_path: Path) -> None:
    async with running() as site:
        site.put("/", "inside", "text/plain")
        call = use("WebFetch", url=site.url(), prompt="the word")
        async with stage(tmp_path / "asked", turns(call, "ok")) as here:
            here.answer("once")
            await here.say("go")
            (asked,) = here.of(ApprovalRequested)
            assert asked.preview.body == f"Fetch {site.url()}\nto find: the word"
            assert any(choice.rule == "WebFetch(domain:127.0.0.1)" for choice in asked.choices)
            assert here.of(QuestionAsked) == [], "the approval showed that it is local"
            assert here.result().data["text"] == "inside"
        rules = {"permissions": {"allow": ["WebFetch(domain:127.0.0.1)"]}}
        async with stage(tmp_path / "ruled", turns(call, "ok"), settings=rules) as here:
            await here.say("go")
            assert here.result().data["text"] == "inside"
        wide: dict[str, Any] = {"permissions": {"allow": ["WebFetch"]}}
        async with stage(tmp_path / "wide", turns(call, "ok"), settings=wide) as here:
            await here.say("go")
            assert "an address of this machine" in here.result().text
        denied = {"permissions": {"allow": ["WebFetch"], "deny": ["WebFetch(domain:127.0.0.1)"]}}
        async with stage(tmp_path / "denied", turns(call, "ok"), settings=denied) as here:
            await here.say("go")
            assert here.result().text.startswith("Denied")
        assert len(site.seen) == 2
