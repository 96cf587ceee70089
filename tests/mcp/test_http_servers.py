"""Servers over HTTP among the others: their tools in a session, their states, signing in from the session."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from mcode.events import Notice
from mcode.mcp import http_guard
from mcode.mcp.connection import UnavailableError
from tests.mcp.http_server import Faulty, serving
from tests.mcp.oauth_server import OAuthServer, visit
from tests.stage import stage
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


QUIET: dict[str, list[object]] = {"turns": []}


def user_servers(directory: Path, **servers: object) -> None:
    path = directory / "home" / ".mcode" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"mcpServers": servers}))


async def test_its_tools_join_the_catalogue(tmp_path: Path) -> None:
    async with serving(Faulty()) as server:
        user_servers(tmp_path, remote={"type": "http", "url": f"{server.url}/mcp"})
        async with stage(tmp_path, QUIET) as opened:
            await opened.bench.pool.settle(30)
            assert [status.state for status in opened.bench.pool.statuses()] == ["connected"]
            assert opened.agent.catalog.find("mcp__remote__echo") is not None
        assert "DELETE" in [asked.method for asked in server.asked]


async def test_a_server_that_wants_a_sign_in_is_signed_in_at_from_the_session(
    tmp_path: Path,
) -> None:
    oauth = OAuthServer()
    async with serving(oauth) as server:
        oauth.server = server
        user_servers(tmp_path, remote={"type": "http", "url": f"{server.url}/mcp"})
        async with stage(tmp_path, QUIET) as opened:
            pool = opened.bench.pool
            await pool.settle(30)
            (status,) = pool.statuses()
            assert (status.state, status.error) == ("needs sign-in", "it wants you to sign in")
            signing_in = asyncio.ensure_future(pool.sign_in("remote"))

            def shown() -> list[str]:
                return [notice.text for notice in opened.of(Notice) if "sign in at" in notice.text]

            await until(shown, "the address to sign in at")
            assert shown()[0].startswith("Open this address in a browser to sign in at 127.0.0.1:\n")
            await visit(oauth.authorize(shown()[0].splitlines()[1]))
            assert await signing_in == ("You are signed in at remote. remote is connected and has 1 tools.")
            assert "no server called other" in await pool.sign_in("other")


async def test_m_11_a_server_that_went_away_is_connected_again_after_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_guard, "TRIES_AGAIN", 0)
    async with serving(Faulty()) as server:
        user_servers(tmp_path, remote={"type": "http", "url": f"{server.url}/mcp"})
        async with stage(tmp_path, QUIET) as opened:
            pool = opened.bench.pool
            await pool.settle(30)
            kept = pool.get("remote")
            assert kept is not None
            await server.stop()
            with pytest.raises(UnavailableError, match="cannot be reached"):
                await kept.connection.request(lambda client: client.list_tools(cache_mode="refresh"))
            await until(lambda: kept.status().state == "failed")
            assert kept.connection.restart_at is not None
            await server.start()
            await until(lambda: kept.status().state == "connected")
