"""Signing in at a server in the browser, and requests in the user's name afterwards."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from mcode.mcp import library
from mcode.mcp.callback import Callback, CallbackError
from mcode.mcp.entries import ServerEntry
from mcode.mcp.http import HttpTransport
from mcode.mcp.sign_in import SignInError, SigningIn, open_in_browser, with_scope
from mcode.mcp.tokens import SignIn, TokenFile
from tests.children import wait_until
from tests.mcp.http_server import serving
from tests.mcp.oauth_server import OAuthServer, visit
from tests.mcp.test_http import call, connected

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.mcp.http_server import HttpServer


@dataclass(slots=True)
class World:
    """A server that wants a sign-in, an entry for it, and a browser that signs in when it is opened."""

    oauth: OAuthServer
    server: HttpServer
    entry: ServerEntry
    tokens: TokenFile
    directory: Path
    opened: list[str] = field(default_factory=list[str])
    shown: list[str] = field(default_factory=list[str])
    pages: list[str] = field(default_factory=list[str])
    visits: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    def attempt(self, entry: ServerEntry | None = None, patience: float = 5.0) -> SigningIn:
        environment = {"PATH": "/usr/bin:/bin"}
        return SigningIn(
            entry or self.entry,
            self.tokens,
            self.directory,
            environment,
            self.shown.append,
            self._open,
            patience,
        )

    def _open(self, address: str) -> bool:
        self.opened.append(address)

        async def go() -> None:
            self.pages.append(await visit(self.oauth.authorize(address)))

        self.visits.append(asyncio.ensure_future(go()))
        return True

    def transport(self) -> HttpTransport:
        return HttpTransport(self.entry, self.directory, {}, self.tokens)


@asynccontextmanager
async def world_of(directory: Path, fault: str = "") -> AsyncGenerator[World]:
    oauth = OAuthServer(fault)
    async with serving(oauth) as server:
        oauth.server = server
        url = f"{server.url}/mcp"
        entry = ServerEntry("remote", "http", "user", None, url=url, written={"type": "http", "url": url})
        world = World(oauth, server, entry, TokenFile(directory / "state"), directory)
        yield world
        await asyncio.gather(*world.visits, return_exceptions=True)


async def test_the_user_signs_in_once_and_later_connections_need_no_browser(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        before = world.transport()
        with pytest.raises(library.failures()):
            async with connected(before):
                raise AssertionError("it needs a sign-in")
        assert before.needs_sign_in
        assert not [asked for asked in world.server.asked if asked.path != "/mcp"], (
            "nothing but the server was asked"
        )
        await world.attempt().run()
        after = world.transport()
        async with connected(after) as client:
            assert json.loads(await call(client, a=1)) == {"a": 1}
        assert not after.needs_sign_in
        assert len(world.opened) == 1
        assert f"to sign in at 127.0.0.1:\n{world.opened[0]}" in world.shown[0]
        assert "200 OK" in world.pages[0]
        query = parse_qs(urlsplit(world.opened[0]).query)
        assert query["code_challenge_method"] == ["S256"]
        assert query["redirect_uri"][0].startswith("http://localhost:")
        assert query["resource"] == [world.entry.url]


async def test_an_authorization_server_that_the_entry_names_is_asked_and_no_other(tmp_path: Path) -> None:
    async with world_of(tmp_path, "hidden") as world:
        oauth = {"authServerMetadataUrl": f"{world.server.url}/hidden/metadata"}
        await world.attempt(replace(world.entry, oauth=oauth)).run()
        async with connected(world.transport()) as client:
            assert json.loads(await call(client, a=1)) == {"a": 1}
        assert not [asked.path for asked in world.server.asked if asked.path.startswith("/.well-known")]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("refused", "the server refused the sign-in: access_denied"),
        ("wrong-state", "State parameter mismatch"),
        ("no-registration", "Registration failed"),
        ("unencrypted", "sign in at login.example without encryption"),
        ("leads-away", "169.254.1.1 would be asked without encryption"),
    ],
)
async def test_a_sign_in_that_goes_wrong_keeps_nothing_and_says_why(
    tmp_path: Path, fault: str, why: str
) -> None:
    async with world_of(tmp_path, fault) as world:
        with pytest.raises(SignInError, match=why):
            await world.attempt().run()
        assert world.tokens.get(world.entry) is None


async def test_nobody_comes_back_in_time(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        attempt = world.attempt(patience=0.1)
        attempt.open_browser = lambda address: False
        with pytest.raises(SignInError, match="nobody signed in within"):
            await attempt.run()
        assert world.shown[0].startswith("Open this address in a browser")


async def test_the_address_can_be_brought_by_hand_where_no_browser_is_near(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        attempt = world.attempt()

        def read_it_to_me(address: str) -> bool:
            assert not attempt.callback.bring("https://elsewhere.example/?code=a&state=b")
            assert attempt.callback.bring(world.oauth.authorize(address))
            return False

        attempt.open_browser = read_it_to_me
        await attempt.run()
        assert world.tokens.get(world.entry) is not None


async def test_a_client_that_the_entry_names_is_used_with_its_port_and_scopes(tmp_path: Path) -> None:
    async with Callback() as free:
        port = free.port
    async with world_of(tmp_path) as world:
        oauth = {"clientId": "known", "callbackPort": port, "scopes": ["read", "write"]}
        await world.attempt(replace(world.entry, oauth=oauth)).run()
        query = parse_qs(urlsplit(world.opened[0]).query)
        assert query["client_id"] == ["known"]
        assert query["redirect_uri"] == [f"http://localhost:{port}/callback"]
        assert query["scope"] == ["read write"]
        assert not [asked for asked in world.server.asked if asked.path == "/register"]


async def test_a_second_sign_in_uses_the_registration_and_the_port_of_the_first(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        await world.attempt().run()
        world.oauth.valid.clear()
        await world.attempt().run()
        assert len([asked for asked in world.server.asked if asked.path == "/register"]) == 1
        first, second = (parse_qs(urlsplit(address).query)["redirect_uri"] for address in world.opened)
        assert first == second


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"kind": "stdio"}, "needs no sign-in"),
        ({"headers": {"authorization": "x"}}, "an Authorization header of its own"),
    ],
)
async def test_some_entries_need_no_sign_in(tmp_path: Path, changed: dict[str, object], why: str) -> None:
    async with world_of(tmp_path) as world:
        entry = ServerEntry(
            "remote",
            "stdio" if "kind" in changed else "http",
            "user",
            None,
            url=world.entry.url,
            headers={"authorization": "x"} if "headers" in changed else {},
        )
        with pytest.raises(SignInError, match=why):
            await world.attempt(entry).run()


async def signed_in(world: World, **changed: object) -> None:
    """Have a sign-in that differs from a fresh one in some fields."""
    await world.attempt().run()
    kept = world.tokens.get(world.entry)
    assert kept is not None
    world.tokens.put(world.entry, replace(kept, **changed))  # pyright: ignore[reportArgumentType] -- any field
    world.server.asked.clear()


async def test_a_token_that_has_run_out_is_renewed_before_the_request_and_kept(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        await signed_in(world, expires_at=time.time() - 10)
        async with connected(world.transport()) as client:
            await call(client)
        renewals = [asked for asked in world.server.asked if asked.path == "/token"]
        assert [asked.form["grant_type"] for asked in renewals] == ["refresh_token"]
        assert world.server.asked[0].path == "/token"
        assert "authorization" not in renewals[0].headers
        kept = world.tokens.get(world.entry)
        assert kept is not None
        assert (kept.access_token, kept.refresh_token) == ("access-token-2", "refresh-2")
        assert kept.expires_at is not None
        assert kept.expires_at > time.time() + 3000


async def test_a_token_that_the_server_no_longer_takes_is_renewed_once(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        await signed_in(world)
        world.oauth.valid.clear()
        async with connected(world.transport()) as client:
            await asyncio.gather(*(call(client, a=number) for number in range(5)))
        assert len([asked for asked in world.server.asked if asked.path == "/token"]) == 1


async def test_a_renewal_by_another_session_is_taken_over(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        await signed_in(world)
        transport = world.transport()
        async with connected(transport) as client:
            kept = world.tokens.get(world.entry)
            assert kept is not None
            world.oauth.valid = {"from-another-session"}
            world.tokens.put(world.entry, replace(kept, access_token="from-another-session"))
            await call(client)
        assert not [asked for asked in world.server.asked if asked.path == "/token"]


async def test_a_renewal_that_is_refused_asks_for_a_new_sign_in_and_keeps_the_old_one(tmp_path: Path) -> None:
    async with world_of(tmp_path, "no-renewal") as world:
        await signed_in(world)
        world.oauth.valid.clear()
        transport = world.transport()
        with pytest.raises(library.failures()):
            async with connected(transport):
                raise AssertionError("it needs a sign-in")
        assert transport.needs_sign_in
        assert world.tokens.get(world.entry) is not None


async def test_m_11_the_token_goes_to_the_servers_own_origin_only(tmp_path: Path) -> None:
    async with world_of(tmp_path) as world:
        await signed_in(world, expires_at=time.time() - 10)
        async with connected(world.transport()):
            pass
        for asked in world.server.asked:
            assert ("authorization" in asked.headers) == (asked.path == "/mcp"), asked.path
        elsewhere = replace(world.entry, url=f"http://localhost:{world.server.port}/mcp")
        assert world.tokens.get(elsewhere) is None, "another address has no sign-in"


@pytest.mark.parametrize(
    ("path", "host", "method", "status"),
    [
        ("/callback?code=a&state=b", "evil.example", "GET", "400"),
        ("/callback?code=a&state=b", None, "POST", "400"),
        ("/callback?code=a", None, "GET", "400"),
        ("/callback?code=a&code=b&state=c", None, "GET", "400"),
        ("/favicon.ico", None, "GET", "404"),
    ],
)
async def test_the_callback_takes_nothing_but_the_one_visit(
    path: str, host: str | None, method: str, status: str
) -> None:
    async with Callback() as callback:
        base = f"http://localhost:{callback.port}"
        assert (await visit(base + path, host=host, method=method)).startswith(f"HTTP/1.1 {status}")
        assert (await visit(f"{base}/callback?code=c&state=s&iss=i")).startswith("HTTP/1.1 200")
        assert (await visit(f"{base}/callback?code=d&state=t")).startswith("HTTP/1.1 404")
        assert (await callback.visit(1)).code == "c"


async def test_a_port_that_is_taken_is_told() -> None:
    async with Callback() as first:
        with pytest.raises(CallbackError, match=f"port {first.port}, .* cannot be had"):
            await Callback(first.port).__aenter__()


async def test_the_callback_survives_whoever_does_not_speak_http() -> None:
    async with Callback() as callback:
        for rubbish in (b"\x00\r\n\r\n", b"GET\r\n\r\n", b"x" * 40_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", callback.port)
            writer.write(rubbish)
            writer.write_eof()
            await reader.read()
            writer.close()
        assert callback.bring(f"http://localhost:{callback.port}/callback?code=a&state=b")


def test_a_scope_is_put_in_place_of_the_proposed_one() -> None:
    assert (
        with_scope("https://a.example/x?scope=all&b=1", "read only")
        == "https://a.example/x?b=1&scope=read+only"
    )


def test_w_06_the_program_that_opens_a_browser_is_not_taken_from_the_project(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "xdg-open"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/opened\n")
    fake.chmod(0o755)
    environment = {"DISPLAY": ":9", "PATH": f"{fake.parent}:bin:."}
    assert not open_in_browser("https://a.example", environment, tmp_path)
    assert not open_in_browser("https://a.example", {"PATH": str(fake.parent)}, tmp_path / "elsewhere")
    assert not (tmp_path / "opened").exists()


def test_the_browser_is_opened_without_the_models_key(tmp_path: Path) -> None:
    program, told = tmp_path / "bin" / "xdg-open", tmp_path / "told"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n/usr/bin/env > {told}.new; echo "$1" >> {told}.new; /bin/mv {told}.new {told}\n'
    )
    program.chmod(0o755)
    environment = {"DISPLAY": ":9", "PATH": str(program.parent), "ANTHROPIC_API_KEY": "mine"}
    assert open_in_browser("https://a.example", environment, tmp_path / "project")
    assert wait_until(told.exists), "the browser was not started"
    assert "DISPLAY=:9" in told.read_text()
    assert "https://a.example" in told.read_text()
    assert "mine" not in told.read_text()


def test_a_sign_in_shows_nothing_of_itself() -> None:
    assert "secret" not in repr(SignIn("secret-token", refresh_token="secret-too"))
