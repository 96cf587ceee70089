"""A session with the sandbox on: what runs inside, what is said of it, and who may switch what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcode.commands.host import CommandContext
from mcode.commands.registry import BoundCommands
from mcode.commands.standard import standard_registry
from mcode.errors import UsageError
from mcode.events import ApprovalRequested, Notice
from mcode.process.sandbox import Availability, sandbox_availability
from mcode.wiring import sandbox as wiring_sandbox
from mcode.wiring.options import Options
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FOUND = sandbox_availability()
needs_one = pytest.mark.skipif(not FOUND.available, reason=f"no sandbox here: {FOUND.why_not}")


@needs_one
async def test_the_models_commands_are_confined_and_the_users_are_not(tmp_path: Path) -> None:
    script = turns(use("Bash", command="echo in > inside; echo out > ../outside"), "tried")
    async with stage(tmp_path, script, settings={"mcode": {"sandbox": True}}) as opened:
        opened.answer("once")
        await opened.say("go")
        result = opened.result()
        assert (opened.project / "inside").read_text() == "in\n"
        assert not (tmp_path / "outside").exists()
        assert "ran in a sandbox" in result.text
        assert "network off" in result.text
        asked = opened.of(ApprovalRequested)[0]
        assert asked.sandbox.startswith(FOUND.method)
        await opened.agent.shell("echo out > ../outside")
        assert (tmp_path / "outside").read_text() == "out\n"


@needs_one
async def test_status_and_the_first_notices_say_what_confines(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("hi"), options=Options(sandbox=True)) as opened:
        registry = standard_registry()
        context = CommandContext(opened.agent, opened.bench.surroundings(), registry)
        status = await BoundCommands(registry, context).run("/status")
        assert "writes only below" in status.text
        told = [notice.text for notice in opened.of(Notice) if "sandbox" in notice.text]
        assert len(told) == 1


@needs_one
async def test_plain_commands_run_unasked_only_where_the_user_has_set_that(tmp_path: Path) -> None:
    lines = ("touch made", "touch $(echo sub)", "cat ../home/.ssh/id_rsa", "rm -rf ~", "touch made > x")
    script = turns([use("Bash", f"toolu_{at}", command=line) for at, line in enumerate(lines)], "done")
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("key")
    settings = {"mcode": {"sandbox": True, "sandboxAutoAllow": True}}
    async with stage(tmp_path, script, settings=settings) as opened:
        opened.answer("deny")
        await opened.say("go")
        asked = [event.call.arguments["command"] for event in opened.of(ApprovalRequested)]
        assert asked == list(lines[1:])
        assert opened.outcomes[0].decision == "the setting sandboxAutoAllow: it runs in the sandbox"
    async with stage(
        tmp_path / "b",
        turns(use("Bash", command="touch made"), "done"),
        settings={"mcode": {"sandbox": True}},
    ) as opened:
        opened.answer("deny")
        await opened.say("go")
        assert len(opened.of(ApprovalRequested)) == 1


@needs_one
async def test_a_denied_command_stays_denied_in_the_sandbox(tmp_path: Path) -> None:
    settings = {
        "mcode": {"sandbox": True, "sandboxAutoAllow": True},
        "permissions": {"deny": ["Bash(touch *)"]},
    }
    async with stage(tmp_path, turns(use("Bash", command="touch made"), "done"), settings=settings) as opened:
        await opened.say("go")
        assert opened.result().is_error
        assert not (opened.project / "made").exists()


async def test_a_project_may_switch_the_sandbox_on_and_nothing_else_of_it(tmp_path: Path) -> None:
    (tmp_path / "project" / ".mcode").mkdir(parents=True)
    (tmp_path / "project" / ".mcode" / "settings.json").write_text(
        json.dumps({"mcode": {"sandbox": True, "sandboxNetwork": True, "sandboxAutoAllow": True}})
    )
    async with stage(tmp_path, turns("hi")) as opened:
        own = opened.agent.settings.own
        assert (own.sandbox_network, own.sandbox_auto_allow) == (False, False)
        assert own.sandbox


async def test_0_5_where_there_is_none_the_option_refuses_and_the_setting_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(path: str, outside: Sequence[Path]) -> Availability:
        del path, outside
        return Availability("", "the kernel offers nothing")

    monkeypatch.setattr(wiring_sandbox, "sandbox_availability", nothing)
    with pytest.raises(UsageError, match=r"the kernel offers nothing\. Nothing was started"):
        async with stage(tmp_path, turns("hi"), options=Options(sandbox=True)):
            pass
    async with stage(tmp_path / "b", turns("hi"), settings={"mcode": {"sandbox": True}}) as opened:
        assert opened.agent.policy.sandbox == ""
        assert any("mcode.sandbox has no effect" in notice.text for notice in opened.of(Notice))
