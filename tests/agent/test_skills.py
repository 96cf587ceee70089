"""Command files and skills in whole sessions, as other agents' users have them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcode.call import Origin, Status
from mcode.events import ApprovalRequested, Notice, QuestionAsked
from mcode.model.usage import count_request
from mcode.ui.completion import Completer
from mcode.ui.file_names import FileNames
from mcode.wiring.options import Options
from tests.commands.typing import context_of, typed
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.events import Event
    from tests.stage import Stage

TRIAGE = """\
---
description: Sort what was reported about one part
argument-hint: [part] [how many]
allowed-tools: Bash(git log *) mcp__tickets__get_*
---
What changed lately: !`git log --oneline -3`
Sort $1 reports about "$0" by the rules in @docs/triage.md.
"""

RELEASE = """\
---
name: release
description: Everything that comes before a new version is out
disable-model-invocation: true
---
Bring out $ARGUMENTS step by step, as ${CLAUDE_SKILL_DIR}/steps.md says.
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def last_message(here: Stage, request: int = -1) -> str:
    """All the words of the last message of a request."""
    content = here.client.requests[request]["messages"][-1]["content"]
    return "\n".join(block.get("text", "") for block in content)


def answer_question(here: Stage, *labels: str) -> list[QuestionAsked]:
    """Attach as a front end that answers each question with the next label; returns what was asked."""
    here.agent.desk.attach()
    asked: list[QuestionAsked] = []
    left = list(labels)

    def receive(event: Event) -> None:
        if isinstance(event, QuestionAsked):
            asked.append(event)
            answers = ((left.pop(0),),) if left else None
            asyncio.get_running_loop().call_soon(here.agent.desk.answer, event.question_id, answers)

    here.agent.events.subscribe(receive)
    return asked


async def git_project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    for command in ("init -q", "-c user.name=a -c user.email=a@b commit -q --allow-empty -m First"):
        process = await asyncio.create_subprocess_exec("git", *command.split(), cwd=project)
        assert await process.wait() == 0
    return project


async def test_a_command_file_gets_its_arguments_a_shell_lines_output_and_a_file(tmp_path: Path) -> None:
    project = await git_project(tmp_path)
    write(project / ".claude/commands/triage.md", TRIAGE)
    write(project / "docs/triage.md", "First the old ones.")
    async with stage(tmp_path, turns("Done."), options=Options(trust=True)) as here:
        finished = await here.say("/triage backend 5")
        message = last_message(here)
        (ran, *_) = here.outcomes
        grants = here.agent.policy.grants
    assert finished.reason == "end"
    assert 'Sort 5 reports about "backend" by' in message
    assert "What changed lately: " in message
    assert " First\n" in message
    assert "First the old ones." in message
    assert "!`" not in message
    assert (ran.call.origin, ran.status) == (Origin.COMMAND, Status.OK)
    assert not grants
    shown = [record for record in here.journal if record["type"] == "user"]
    assert shown[0]["body"]["text"] == "/triage backend 5"


async def test_release_is_for_the_user_alone(tmp_path: Path) -> None:
    home = write(tmp_path / "home/.claude/skills/release/SKILL.md", RELEASE).parent
    async with stage(tmp_path, turns("Read it.")) as here:
        await here.say("/release 1.2")
        message = last_message(here)
        tools = [tool["name"] for tool in here.client.requests[0]["tools"]]
        listed = await typed(here, "/skills")
    assert f"Bring out 1.2 step by step, as {home}/steps.md says." in message
    assert "Skill" not in tools
    assert listed.data[0]["by_model"] is False
    assert "you" in listed.text


async def test_an_unapproved_file_of_the_project_runs_and_allows_nothing(tmp_path: Path) -> None:
    project = await git_project(tmp_path)
    write(project / ".claude/commands/triage.md", TRIAGE)
    write(project / ".claude/commands/plain.md", "Just words: $ARGUMENTS")
    write(project / ".claude/commands/wide.md", "---\nallowed-tools: Bash(*)\n---\nRun it.")
    script = turns("A.", use("Bash", command="touch made"), "B.")
    async with stage(tmp_path, script) as here:
        refused = await here.say("/triage backend 5")
        assert refused.reason == "error"
        assert "not approved" in refused.text
        assert not here.outcomes
        assert not here.client.requests
        await here.say("/plain hello")
        assert last_message(here).endswith("Just words: hello")
        await here.say("/wide")
        denied = here.result()
    assert denied.status is Status.DENIED
    assert not (project / "made").exists()


async def test_the_user_approves_a_file_once_and_a_changed_one_asks_again(tmp_path: Path) -> None:
    project = await git_project(tmp_path)
    path = write(project / ".claude/commands/log.md", "Now: !`git log --oneline -1`")
    async with stage(tmp_path, turns("A.", "B.")) as here:
        asked = answer_question(here, "Approve it")
        await here.say("/log")
        await here.say("/log")
        assert len(asked) == 1
        assert "git log --oneline -1" in asked[0].questions[0].text
    path.write_text("Now: !`git log --oneline -2`")
    async with stage(tmp_path, turns("C.")) as here:
        asked = answer_question(here, "Not now")
        refused = await here.say("/log")
        assert refused.reason == "error"
        assert "not as it was" in asked[0].questions[0].text


async def test_a_command_that_no_rule_allows_is_not_run_and_nobody_is_asked(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/commands/make.md", "Now: !`touch made`")
    async with stage(tmp_path, turns("A.")) as here:
        here.answer("once")
        refused = await here.say("/make")
        assert refused.reason == "error"
        assert "a rule has to allow it first" in refused.text
        assert not (here.project / "made").exists()


async def test_allowed_tools_hold_for_their_turn_and_no_longer(tmp_path: Path) -> None:
    write(
        tmp_path / "home/.claude/commands/make.md",
        "---\nallowed-tools: [Bash(touch *)]\n---\nMake it. !`touch one`",
    )
    script = turns(
        use("Bash", "toolu_1", command="touch two"), "A.", use("Bash", "toolu_2", command="touch three"), "B."
    )
    async with stage(tmp_path, script) as here:
        await here.say("/make")
        await here.say("again")
        made = sorted(path.name for path in here.project.iterdir())
        statuses = [outcome.status for outcome in here.outcomes]
    assert made == ["one", "two"]
    assert statuses == [Status.OK, Status.OK, Status.DENIED]


async def test_a_failing_command_stops_the_message_and_the_setting_leaves_commands_out(
    tmp_path: Path,
) -> None:
    write(tmp_path / "home/.claude/commands/bad.md", "Now: !`ls nowhere`")
    async with stage(tmp_path, turns("A.")) as here:
        assert "did not succeed" in (await here.say("/bad")).text
        assert not here.client.requests
    async with stage(tmp_path, turns("A."), settings={"disableSkillShellExecution": True}) as here:
        await here.say("/bad")
        assert "disableSkillShellExecution" in last_message(here)
        assert not here.outcomes


async def test_the_model_uses_a_skill_that_it_reads_of(tmp_path: Path) -> None:
    skill = "---\ndescription: Writes verse: always use it for poems\nallowed-tools: Bash(touch *)\n---\nRhyme on $0."
    write(tmp_path / "home/.agents/skills/verse/SKILL.md", skill)
    script = turns(use("Skill", skill="verse", args="moon"), use("Bash", command="touch made"), "A.")
    async with stage(tmp_path, script) as here:
        asked = answer_question(here, "Yes, for this turn")
        await here.say("write a poem")
        (definition,) = [tool for tool in here.client.requests[0]["tools"] if tool["name"] == "Skill"]
        assert "- verse: Writes verse: always use it for poems" in definition["description"]
        assert here.outcomes[0].text == "Rhyme on moon."
        assert here.outcomes[1].status is Status.OK
        assert "Bash(touch *)" in asked[0].questions[0].text


async def test_what_the_model_may_not_use_is_refused_with_what_there_is(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/skills/release/SKILL.md", RELEASE)
    write(tmp_path / "home/.claude/skills/verse/SKILL.md", "Rhyme.")
    script = turns(use("Skill", skill="release"), use("Skill", "toolu_2", skill="verse"), "A.")
    settings = {"permissions": {"deny": ["Skill(verse)"]}}
    async with stage(tmp_path, script, settings=settings) as here:
        await here.say("go")
        assert "for the user alone" in here.outcomes[0].text
        assert here.outcomes[1].status is Status.DENIED


async def test_the_users_file_goes_before_the_projects_and_a_skill_before_a_command(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name, text in (
        (".claude/commands/a.md", "project command"),
        (".claude/skills/a/SKILL.md", "project skill"),
        (".claude/commands/b.md", "project b"),
        (".mcode/commands/c.md", "mcode c"),
        (".claude/commands/c.md", "claude c"),
        (".claude/commands/sub/d.md", "nested"),
        (".gemini/commands/g.toml", 'prompt = "gem {{args}}"\ndescription = "G"'),
        (".claude/commands/help.md", "shadow"),
    ):
        write(project / name, text)
    write(tmp_path / "home/.claude/commands/b.md", "user b")
    write(tmp_path / "home/.codex/prompts/x.md", "codex $1")
    (project / ".claude/commands/out.md").symlink_to(write(tmp_path / "secret.txt", "outside"))
    async with stage(tmp_path, turns("x")) as here:
        skills = here.agent.skills
        bodies = {skill.name: skill.body for skill in skills.all}
        notices = " ".join(notice.text for notice in here.of(Notice))
        context = context_of(here)
        found = await Completer(lambda: context, FileNames(lambda: (here.project,))).matching("/")
    assert bodies == {
        "a": "project skill", "b": "user b", "c": "mcode c", "sub:d": "nested", "g": "gem {{args}}",
        "help": "shadow", "x": "codex $1",
    }  # fmt: skip
    assert "outside" not in str(bodies)
    assert "out.md leads to" in notices
    offered = [each.text for each in found]
    assert "/sub:d" in offered
    assert offered.count("/help") == 1


async def test_a_broken_file_breaks_nothing_and_is_named(tmp_path: Path) -> None:
    commands = tmp_path / "home/.claude/commands"
    write(commands / "odd.md", "---\n%% what\ndescription: [a\n---\nWorks.")
    (commands / "bytes.md").write_bytes(b"\xff\xfe\0")
    write(tmp_path / "home/.gemini/commands/bad.toml", "prompt = ")
    write(tmp_path / "home/.gemini/commands/long.toml", f'prompt = "x"\nnumber = {"9" * 5_000}')
    write(tmp_path / "home/.gemini/commands/deep.toml", f'prompt = "x"\nlist = {"[" * 50_000}')
    async with stage(tmp_path, turns("x")) as here:
        await here.say("/odd")
        assert last_message(here).endswith("Works.")
        texts = " ".join(notice.text for notice in here.of(Notice))
    assert "odd.md" in texts
    assert "bytes.md" in texts
    assert "bad.toml" in texts
    assert "long.toml" in texts
    assert "deep.toml" in texts


async def test_the_listing_keeps_its_budget(tmp_path: Path) -> None:
    for number in range(60):
        text = f"---\ndescription: {'words about a thing ' * 60}\n---\nx"
        write(tmp_path / f"home/.claude/skills/s{number}/SKILL.md", text)
    async with stage(tmp_path, turns("x")) as here:
        await here.say("hello")
        size = count_request(here.client.requests[0])
        (definition,) = [tool for tool in here.client.requests[0]["tools"] if tool["name"] == "Skill"]
    assert size.total < 4_700
    assert "- s59" in definition["description"]


async def test_without_such_files_nothing_of_it_is_in_the_request(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as here:
        await here.say("hello")
        names = [tool["name"] for tool in here.client.requests[0]["tools"]]
        said = await typed(here, "/skills")
    assert "Skill" not in names
    assert "No command files" in said.text


def test_init_of_the_stream_names_commands_and_skills(tmp_path: Path) -> None:
    from tests.e2e.binary import Machine

    machine = Machine.fresh(tmp_path)
    write(machine.project / ".claude/commands/triage.md", TRIAGE)
    write(machine.home / ".claude/skills/release/SKILL.md", RELEASE)
    ran = machine.run("--demo", "-p", "/release 2", "--output-format", "stream-json")
    init: dict[str, Any] = next(line for line in ran.lines if line.get("subtype") == "init")
    assert "triage" in init["slash_commands"]
    assert init["skills"] == ["release"]
    assert ran.lines[-1]["subtype"] == "success"


async def test_skills_of_a_directory_below_are_found_when_something_there_is_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / ".claude/skills/release/SKILL.md", RELEASE)
    write(project / "lib/.claude/skills/release/SKILL.md", "---\ndescription: Releases lib\n---\nLib alone.")
    write(project / "lib/inner/.agents/skills/deep/SKILL.md", "---\ndescription: Deep down\n---\nDig.")
    write(project / "lib/inner/a.txt", "a\n")
    read = use("Read", file_path="lib/inner/a.txt")
    called = use("call_tool", "toolu_3", name="Skill", arguments={"skill": "deep"})
    async with stage(
        tmp_path, turns(read, use("Read", "toolu_2", file_path="lib/inner/a.txt"), called, "A.", "B.")
    ) as here:
        await here.say("look")
        told = str(here.client.requests[1]["messages"])
        assert "- lib:release: Releases lib" in told
        assert "- deep: Deep down" in told
        assert str(here.client.requests[2]["messages"]).count("Deep down") == 1
        assert here.outcomes[2].text == "Dig."
        await here.say("/lib:release")
        assert last_message(here) == "Lib alone."


async def test_a_skill_with_paths_is_heard_of_when_such_a_file_is_read_and_once_in_a_session(
    tmp_path: Path,
) -> None:
    skill = "---\ndescription: Mends types\npaths: **/*.{pyi,typed}, src/**\nshell: powershell\n---\nMend."
    write(tmp_path / "home/.claude/skills/types/SKILL.md", skill)
    write(tmp_path / "project/deep/a.pyi", "x\n")
    write(tmp_path / "project/a.txt", "x\n")
    script = turns(use("Read", file_path="a.txt"), use("Read", "toolu_2", file_path="deep/a.pyi"), "A.")
    async with stage(tmp_path, script) as here:
        await here.say("go")
        assert "Skill" not in [tool["name"] for tool in here.client.requests[0]["tools"]]
        assert "Mends types" not in str(here.client.requests[1])
        assert "- types: Mends types" in str(here.client.requests[2]["messages"])
        shown = (await typed(here, "/skills")).data[0]
        assert (shown["paths"], shown["unused"]) == (
            ["**/*.{pyi,typed}", "src/**"],
            ["shell: powershell (its commands run in bash)"],
        )
        reference = here.agent.session.id
    again = turns(use("Read", "toolu_9", file_path="deep/a.pyi"), "A.")
    async with stage(tmp_path, again, source="resume", reference=reference) as here:
        await here.say("go")
        assert str(here.client.requests[-1]["messages"]).count("Mends types") == 1


async def test_a_skill_may_be_the_task_of_a_sub_agent_and_name_its_model(tmp_path: Path) -> None:
    forked = "---\ndescription: Looks\ncontext: fork\nagent: general-purpose\n---\nFind $0."
    write(tmp_path / "home/.claude/skills/find/SKILL.md", forked)
    write(tmp_path / "home/.claude/skills/think/SKILL.md", "---\nmodel: bigger-1\n---\nThink of $0.")
    write(tmp_path / "home/.claude/commands/short.md", "---\nmodel: opus\n---\nShortly.")
    script = turns(
        "It is in a.txt.",
        "So it is.",
        use("Skill", skill="find", args="b"),
        "In b.",
        "Yes.",
        "Deep.",
        "S.",
        "N.",
    )
    async with stage(tmp_path, script, new_prefixes=6) as here:
        await here.say("/find needle")
        child, parent = here.client.requests
        assert "Find needle." in str(child["messages"])
        assert "Its answer:\nIt is in a.txt." in parent["messages"][-1]["content"][-1]["text"]
        assert "Find needle." not in str(parent["messages"])
        await here.say("find b")
        assert here.outcomes[-1].text.endswith("Its answer:\nIn b.")
        assert [each.call.tool for each in here.outcomes] == ["Agent", "Agent", "Skill"]
        for text in ("/think deeply", "/short", "and on"):
            await here.say(text)
        assert [body["model"] for body in here.client.requests[-3:]] == [
            "bigger-1",
            "scripted-1",
            "scripted-1",
        ]
        assert here.agent.model == "scripted-1"


async def test_what_a_command_file_allows_is_not_for_a_sub_agent_of_an_earlier_turn(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/commands/w.md", "---\nallowed-tools: Edit(/src/**)\n---\nWrite it.")
    task = {"prompt": "apple", "description": "d", "run_in_background": True}
    started = use("call_tool", "toolu_a", name="Agent", arguments=task)
    apple = turns(
        use("Write", "toolu_w1", file_path="lib/1", content=""),
        use("Write", "toolu_w2", file_path="src/2", content=""),
        "Apple done.",
    )["turns"]
    results: list[Any] = [{}, {"result": {"contains": "lib/1 created"}}, {"result": {"is_error": True}}]
    whens = [{"user": "apple", **result} for result in results]
    main = turns(
        started,
        "It works.",
        [
            use("Write", "toolu_m1", file_path="src/3", content=""),
            use("Write", "toolu_m2", file_path="lib/4", content=""),
        ],
        "Written.",
        "It is back.",
    )
    script = {
        "turns": [
            *({"when": when, **reply} for when, reply in zip(whens, apple, strict=True)),
            *main["turns"],
        ]
    }
    async with stage(tmp_path, script, new_prefixes=4) as here:
        desk = here.agent.desk
        desk.attach()

        def asked() -> dict[str, str]:
            found = (each for each in desk.waiting if isinstance(each, ApprovalRequested))
            return {each.call.id: each.approval_id for each in found}

        await here.say("go")
        await until(lambda: set(asked()) == {"toolu_w1"})
        turn = asyncio.create_task(here.say("/w"))
        await until(lambda: set(asked()) == {"toolu_w1", "toolu_m2"})
        desk.decide(asked()["toolu_w1"], "once")
        await until(lambda: "toolu_w1" not in asked() and "toolu_w2" in asked())
        for identifier in asked().values():
            desk.decide(identifier, "deny")
        await turn
        await until(lambda: not here.agent.subagents.running)
    assert {each.call.id: each.status for each in here.outcomes}["toolu_m1"] is Status.OK
