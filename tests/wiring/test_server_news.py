"""A server that fails is told of once, with what to do about it."""

from __future__ import annotations

from dataclasses import replace

from mcode.catalog.servers import ServerStatus
from mcode.events import EventBus, Notice
from mcode.wiring.server_news import ServerNews

STARTING = ServerStatus("jira", "connecting", 0)
FAILED = replace(STARTING, state="failed", error="it said: cannot open database")


def test_a_server_that_fails_is_told_of_once_until_it_was_there_again() -> None:
    now, said = [STARTING], list[str]()
    events = EventBus()
    events.subscribe(lambda event: said.append(event.text) if isinstance(event, Notice) else None)
    news = ServerNews(lambda: tuple(now), events)
    for status in (STARTING, FAILED, FAILED, STARTING, FAILED):
        now[0] = status
        news.look()
    assert len(said) == 1
    assert said[0].startswith(
        "The server jira failed: it said: cannot open database. Its tools cannot be used"
    )
    assert "/mcp reconnect jira" in said[0]
    for status in (replace(STARTING, state="connected", tools=3), FAILED):
        now[0] = status
        news.look()
    assert len(said) == 2


def test_what_was_wrong_before_the_session_began_is_no_news_and_a_sign_in_is() -> None:
    now, said = [FAILED], list[Notice]()
    events = EventBus()
    events.subscribe(lambda event: said.append(event) if isinstance(event, Notice) else None)
    news = ServerNews(lambda: tuple(now), events)
    news.look()
    assert not said
    now[0] = replace(STARTING, state="needs sign-in")
    news.look()
    assert [(each.severity, "/mcp sign-in jira" in each.text) for each in said] == [("warning", True)]
