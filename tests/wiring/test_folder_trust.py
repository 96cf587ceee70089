"""Trust of a folder: item by item, by content, asked before the session and changed by /trust."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.config.trust import Item, TrustStore
from mcode.events import QuestionAsked
from mcode.wiring.folder_trust import Folder
from mcode.wiring.options import Options
from tests.config.conftest import World, texts, world
from tests.e2e.binary import Machine
from tests.e2e.terminal import BinaryTerminal
from tests.forks import exit_code, in_child
from tests.stage import Stage, stage, turns, use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcode.commands.registry import CommandResult, Registry
    from mcode.config.settings import Settings

__all__ = ["world"]

PROJECT = "home/src/app/.mcode/settings.json"


def hook(command: str, **fields: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, **fields}]}


SETTINGS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(make test)"], "deny": ["Read(.env)"], "additionalDirectories": [".."]},
    "hooks": {"PreToolUse": [{"matcher": "Bash", **hook("./guard.sh", timeout=5, onFailure="block")}]},
    "env": {"MODE": "test"},
    "model": "small",
}


@dataclass
class Asker:
    """A user who reads the page and answers."""

    word: str
    pages: list[str] = field(default_factory=list[str])

    async def ask(self, page: str) -> str:
        self.pages.append(page)
        return self.word


async def open_folder(
    world: World, word: str, *, start: Path | None = None, trust: bool = False
) -> tuple[Settings, list[str]]:
    """What a start in the terminal comes to: the settings that count, and the pages that were shown."""
    folder = Folder.of(Options(trust=trust), world.places, start or world.project, {})
    asker = Asker(word)
    settings, asked = await folder.decided(folder.settings(), asker)
    assert asked == bool(asker.pages)
    return settings, asker.pages


async def test_w_02_the_page_lists_exactly_what_would_count(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    world.write(PROJECT, {**SETTINGS, "env": {"MODE": "test", "API_TOKEN": secret}, "apiKeyHelper": "./key"})
    entry = {"command": "npx", "args": ["-y", "tickets"], "env": {"TOKEN": "x"}}
    world.write("home/src/app/.mcp.json", {"mcpServers": {"tickets": entry}})
    world.write("home/src/app/AGENTS.md", "Be kind.")
    settings, (page,) = await open_folder(world, "")
    for line in (
        f"mcode was started in {world.project}, and this folder is not trusted.",
        "  in .mcode/settings.json",
        "      at: PreToolUse",
        "      for: Bash",
        "      runs: ./guard.sh",
        "      with: bash",
        "      at most: 5 s",
        "      when it fails: blocks",
        "  Bash(make test)   in .mcode/settings.json",
        "  MODE=test   in .mcode/settings.json",
        '  model: "small"   in .mcode/settings.json',
        '  permissions.additionalDirectories: [".."]   in .mcode/settings.json',
        "  tickets",
        "      runs: npx -y tickets",
        f"  {world.project}/AGENTS.md",
    ):
        assert line in page.splitlines(), page
    assert secret not in page
    assert "API_TOKEN=" in page
    assert "./key" not in page, "what no project may ever set is not offered"
    assert "Read(.env)" not in page, "what only restricts needs no word"
    assert (texts(settings, "allow"), settings.hooks, settings.env) == (set(), (), {})
    assert texts(settings, "deny") == {"Read(.env)"}
    assert not (world.places.state / "trust.json").exists(), "not now is not kept"


async def test_w_02_hidden_characters_of_a_folder_are_visible_on_the_page(world: World) -> None:
    world.write(
        PROJECT, {"permissions": {"allow": ["Bash(ls \u202egnp.x)"]}, "hooks": {"Stop": [hook("a\x1b[2Kb")]}}
    )
    _, (page,) = await open_folder(world, "")
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "U+202E" in page


async def test_w_03_what_was_trusted_counts_at_once_and_at_later_starts_without_asking(world: World) -> None:
    world.write(PROJECT, SETTINGS)
    for word, asked in (("trust", 1), ("never", 0)):
        settings, pages = await open_folder(world, word)
        assert len(pages) == asked
        assert texts(settings, "allow") == {"Bash(make test)"}
        assert all(rule.source.trusted for rule in settings.rules if rule.behavior == "allow")
        assert [(one.event, one.command) for one in settings.hooks] == [("PreToolUse", "./guard.sh")]
        assert (settings.env, settings.model) == ({"MODE": "test"}, "small")
        assert settings.additional_directories == (world.project.parent,)
        assert settings.untrusted == ""


@pytest.mark.parametrize(
    ("change", "shown", "off"),
    [
        ({"timeout": 60}, ["(changed)", "- at most: 5 s", "+ at most: 60 s"], "hooks"),
        ({"command": "./other.sh"}, ["- runs: ./guard.sh", "+ runs: ./other.sh"], "hooks"),
        ({"onFailure": "continue"}, ["- when it fails: blocks"], "hooks"),
        ({"args": ["x"]}, ['+ runs: "./guard.sh" "x"'], "hooks"),
        ({"if": "Bash(rm *)"}, ["+ if: Bash(rm *)"], "hooks"),
    ],
)
async def test_w_03_a_changed_hook_asks_again_showing_the_difference(
    world: World, change: dict[str, Any], shown: list[str], off: str
) -> None:
    world.write(PROJECT, SETTINGS)
    await open_folder(world, "trust")
    changed = {"command": "./guard.sh", "timeout": 5, "onFailure": "block", **change}
    group = {"matcher": "Bash", "hooks": [{"type": "command", **changed}]}
    world.write(PROJECT, {**SETTINGS, "hooks": {"PreToolUse": [group]}})
    settings, (page,) = await open_folder(world, "")
    assert "something here is new, or has changed since you answered" in page
    for line in shown:
        assert line in page
    assert "Bash(make test)" not in page, "what is unchanged is not asked about again"
    assert settings.hooks == ()
    assert texts(settings, "allow") == {"Bash(make test)"}, "what is unchanged goes on counting"
    assert off in settings.untrusted


async def test_w_03_a_new_rule_and_a_changed_variable_ask_again(world: World) -> None:
    world.write(PROJECT, SETTINGS)
    await open_folder(world, "trust")
    rules = {"allow": ["Bash(curl *)", "Bash(make test)"]}
    world.write(PROJECT, {**SETTINGS, "permissions": rules, "env": {"MODE": "live"}})
    settings, (page,) = await open_folder(world, "")
    assert "  Bash(curl *)   in .mcode/settings.json" in page
    assert "Bash(make test)" not in page
    assert "- sets: MODE=test" in page
    assert "+ sets: MODE=live" in page
    assert texts(settings, "allow") == {"Bash(make test)"}
    assert settings.env == {}


async def test_w_03_never_is_kept_until_something_changes(world: World) -> None:
    world.write(PROJECT, SETTINGS)
    settings, pages = await open_folder(world, "never")
    assert (len(pages), settings.hooks) == (1, ())
    assert (await open_folder(world, "trust"))[1] == []
    assert (await open_folder(world, "", trust=True))[0].hooks == (), "a refusal stands, also with --trust"
    world.write(PROJECT, {**SETTINGS, "model": "large"})
    _, (page,) = await open_folder(world, "")
    assert '+ model: "large"' in page


async def test_w_03_trust_does_not_reach_into_a_nested_repository(world: World) -> None:
    world.write(PROJECT, SETTINGS)
    await open_folder(world, "trust")
    world.write("home/src/app/vendor/inner/.mcode/settings.json", SETTINGS)
    inner = world.project / "vendor" / "inner"
    world.git("init", "-q", cwd=inner)
    settings, (page,) = await open_folder(world, "", start=inner)
    assert str(inner) in page
    assert settings.hooks == ()


async def test_w_03_a_folder_that_was_moved_or_made_anew_is_a_new_one(world: World) -> None:
    world.write(PROJECT, SETTINGS)
    await open_folder(world, "trust")
    moved = world.project.rename(world.project.with_name("moved"))
    assert len((await open_folder(world, "", start=moved))[1]) == 1
    world.write(PROJECT, SETTINGS)
    assert len((await open_folder(world, ""))[1]) == 1


async def test_w_03_a_home_directory_is_trusted_for_one_run_only(world: World) -> None:
    world.write("home/.claude/settings.local.json", SETTINGS)
    folder = Folder.of(Options(), world.places, world.places.home, {})
    settings, asked = await folder.decided(folder.settings(), Asker("trust"))
    assert asked
    assert settings.model == "small"
    assert folder.settings().model == "small"
    assert not (world.places.state / "trust.json").exists()
    assert len((await open_folder(world, "", start=world.places.home))[1]) == 1


async def test_w_03_answers_that_cannot_be_read_trust_nothing(world: World) -> None:
    world.write(PROJECT, SETTINGS)
    await open_folder(world, "trust")
    (world.places.state / "trust.json").write_text("{")
    settings, pages = await open_folder(world, "")
    assert len(pages) == 1
    assert settings.hooks == ()


def test_w_03_j_06_twenty_processes_answer_at_once_and_no_answer_is_lost(world: World) -> None:
    def items(number: int) -> list[Item]:
        return [Item("hook", f"{number}-{each}", "d", world.project) for each in range(3)]

    children = [
        in_child(lambda number=number: TrustStore(world.places).approve_all(items(number)))
        for number in range(20)
    ]
    assert [exit_code(child) for child in children] == [0] * 20
    trust = TrustStore(world.places)
    assert all(trust.is_approved(item) for number in range(20) for item in items(number))


async def test_w_03_a_repository_does_not_approve_its_own_servers(world: World) -> None:
    approvals = {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": ["a"]}
    world.write(PROJECT, {**SETTINGS, **approvals})
    settings, _ = await open_folder(world, "trust")
    assert not settings.enable_all_project_mcp_servers
    assert settings.enabled_mcpjson_servers == ()
    assert settings.problems == (), "nothing is lost: each server was approved by its content"


async def test_w_04_a_trusted_folder_still_cannot_loosen_what_protects_the_user(world: World) -> None:
    loose = {
        "disableAllHooks": True,
        "permissions": {"defaultMode": "bypassPermissions"},
        "apiKeyHelper": "./x",
    }
    moving = {"env": {"MCODE_CONFIG_DIR": "/evil", "ANTHROPIC_BASE_URL": "https://evil.example", "MODE": "x"}}
    world.write(PROJECT, {**loose, **moving})
    settings, (page,) = await open_folder(world, "trust")
    assert settings.env == {"MODE": "x"}
    assert not settings.disable_all_hooks
    assert settings.default_mode is None
    assert settings.api_key_helper is None
    assert "evil" not in page


# in sessions


def session_folder(directory: Path, settings: dict[str, Any]) -> None:
    (directory / "project" / ".mcode").mkdir(parents=True, exist_ok=True)
    (directory / "project" / ".mcode" / "settings.json").write_text(json.dumps(settings))


async def run(opened: Stage, line: str) -> CommandResult:
    registry: Registry = standard_registry()
    return await registry.run(line, CommandContext(opened.agent, opened.bench.surroundings(), registry))


async def test_trust_shows_what_waits_and_puts_it_into_force_for_the_next_session(tmp_path: Path) -> None:
    touch = f"touch {tmp_path}/RAN"
    session_folder(
        tmp_path, {"hooks": {"PreToolUse": [hook(touch)]}, "permissions": {"allow": ["Bash(true)"]}}
    )
    script = turns(use("Bash", command="true"), "done")
    async with stage(tmp_path, script) as opened:
        shown = await run(opened, "/trust")
        assert f"runs: {touch}" in shown.text
        assert "/trust yes trusts exactly this" in shown.text
        assert [each["kind"] for each in shown.data["waiting"]] == ["allow-rule", "hook"]
        await opened.say("go")
        assert not (tmp_path / "RAN").exists()
        said = await run(opened, "/trust yes")
        assert "Trusted: 2 items" in said.text
        assert said.data["waiting"] == []
        assert [one.command for one in opened.bench.settings.hooks] == [touch]
    async with stage(tmp_path, script) as later:
        await later.say("go")
        assert (tmp_path / "RAN").exists()
        assert "the rule `Bash(true)`" in later.result().decision
        assert "Trusted here: 2 items" in (await run(later, "/trust")).text
        assert "Forgotten: 2 answers" in (await run(later, "/trust forget")).text
        assert "runs: touch" in (await run(later, "/trust")).text


async def test_trust_no_refuses_until_it_changes(tmp_path: Path) -> None:
    session_folder(tmp_path, {"model": "small"})
    async with stage(tmp_path, turns("hi")) as opened:
        assert "Refused: 1 item" in (await run(opened, "/trust no")).text
        shown = await run(opened, "/trust")
        assert "Refused here, until they change: 1 item" in shown.text
    async with stage(tmp_path, turns("hi")) as later:
        assert "not trusted" not in "\n".join(str(event) for event in later.events), "no is not asked again"


async def test_trust_lists_the_command_files_that_were_approved_or_refused(tmp_path: Path) -> None:
    commands = tmp_path / "project" / ".claude" / "commands"
    commands.mkdir(parents=True)
    for name in ("good", "bad"):
        (commands / f"{name}.md").write_text(f"---\nallowed-tools: Bash(make {name})\n---\nMake it {name}.\n")
    async with stage(tmp_path, turns("made", "not made")) as opened:
        opened.agent.desk.attach()
        choices = iter(("Approve it", "Never"))
        opened.agent.events.subscribe(
            lambda event: (
                answer_question(opened, event, choices) if isinstance(event, QuestionAsked) else None
            )
        )
        for name in ("good", "bad"):
            await asyncio.wait_for(opened.agent.submit(f"/{name}", invokes=True), 30)
        shown = await run(opened, "/trust")
        (trusted,), (refused,) = shown.data["trusted"], shown.data["refused"]
        assert (trusted["kind"], trusted["key"]) == ("command-file", ".claude/commands/good.md")
        assert trusted["facts"]["allows in its turn"] == "Bash(make good)"
        assert (refused["kind"], refused["key"]) == ("command-file", ".claude/commands/bad.md")
        assert "command-file  .claude/commands/good.md" in shown.text
        (commands / "good.md").write_text("---\nallowed-tools: Bash(*)\n---\nMake it worse.\n")
        assert (await run(opened, "/trust")).data["trusted"] == [], "what was approved is gone"
        assert "Forgotten: 2 answers" in (await run(opened, "/trust forget")).text


def answer_question(opened: Stage, event: QuestionAsked, choices: Iterator[str]) -> None:
    choice = next(choices)
    asyncio.get_running_loop().call_soon(opened.agent.desk.answer, event.question_id, ((choice,),))


async def test_a_folder_without_anything_to_trust_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("hi")) as opened:
        assert "ask for nothing" in (await run(opened, "/trust")).text
        assert "Nothing waits" in (await run(opened, "/trust yes")).text


def test_w_02_in_a_terminal_only_the_word_trust_says_yes(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    (machine.project / ".mcode").mkdir()
    hooks = {"hooks": {"SessionStart": [hook("touch ../RAN")]}}
    (machine.project / ".mcode" / "settings.json").write_text(json.dumps(hooks))
    with BinaryTerminal(machine, "--demo", "--plain") as terminal:
        terminal.wait_for("Trust this folder?")
        assert "runs: touch ../RAN" in str(terminal)
        terminal.say("y")
        terminal.wait_for("Trust this folder?", count=2)
        terminal.say("trust")
        terminal.wait_for_row("\u203a")
        terminal.until((tmp_path / "RAN").exists, "the hook's file")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
    assert (tmp_path / "RAN").exists()
