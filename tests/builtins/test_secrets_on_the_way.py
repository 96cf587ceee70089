"""What is approved is shown, what is secret is not kept, and what was just granted is not asked again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from mcode.events import ApprovalRequested
from mcode.masking import Masker
from mcode.model.custom_headers import header_secrets
from mcode.pipeline.side_files import SideFiles
from mcode.session.store import SessionStore
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

KEY = "zq-" + "0123456789" + "abcdefghij"


async def test_grep_on_a_secret_file_that_was_approved_shows_what_it_found(tmp_path: Path) -> None:
    script = turns(
        [use("Grep", "named", pattern="NAME", path=".env", output_mode="content")],
        "ok",
        [use("Grep", "below", pattern="NAME", output_mode="content", glob=".env")],
        "ok",
    )
    async with stage(tmp_path, script) as here:
        (here.project / ".env").write_text("NAME=plain\n")
        here.answer("once")
        await here.say("named")
        assert len(here.of(ApprovalRequested)) == 1
        assert "NAME=plain" in here.result().text
        await here.say("below")
        assert "NAME=plain" not in here.result().text
        assert "left out" in here.result().text


async def test_grep_on_a_named_secret_file_is_denied_where_nobody_approves(tmp_path: Path) -> None:
    call = use("Grep", pattern="NAME", path=".env", output_mode="content")
    async with stage(tmp_path, turns(call, "ok")) as here:
        (here.project / ".env").write_text("NAME=plain\n")
        await here.say("go")
        assert here.result().text.startswith("Denied")
        assert "plain" not in here.result().text


async def test_reads_at_once_do_not_ask_for_what_was_just_granted(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    paths = [str(outside / f"{number}.txt") for number in range(4)]
    for path in paths:
        with open(path, "w") as file:
            file.write("text\n")
    calls = [use("Read", f"r{number}", file_path=path) for number, path in enumerate(paths)]
    async with stage(tmp_path, turns(calls, "ok")) as here:
        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("go"))
        answered = 0
        while not turn.done():
            for asked in here.agent.desk.waiting[:1]:  # as a person does: one after the other
                assert isinstance(asked, ApprovalRequested)
                answered += here.agent.desk.decide(asked.approval_id, "session")
            await asyncio.sleep(0.02)
        assert answered == 1
        assert [outcome.is_error for outcome in here.outcomes] == [False] * 4


# --- mcode's own keys


async def test_k_02_what_is_spilled_for_the_model_holds_no_key(tmp_path: Path) -> None:
    masker = Masker(keys=[KEY])
    session = SessionStore(tmp_path, masker).create()
    try:
        path = SideFiles(session, mask=masker.mask_keys).keep_text(f"a {KEY} b")
        assert KEY not in path.read_text()
        assert path.read_text().startswith("a \u2039secret:key:")
    finally:
        session.journal.close()


@pytest.mark.parametrize(
    ("headers", "secrets"),
    [
        (f"Authorization: Bearer {KEY}", (KEY,)),
        (f"X-Trace: {KEY}\nX-Api-Key: {KEY}1", (f"{KEY}1",)),
        ("X-Auth-Mode: on\nAuthorization: Basic abc", ()),
        ("", ()),
    ],
)
def test_k_01_a_credential_in_custom_headers_is_one_of_mcodes_keys(
    headers: str, secrets: tuple[str, ...]
) -> None:
    assert header_secrets({"ANTHROPIC_CUSTOM_HEADERS": headers}) == secrets
