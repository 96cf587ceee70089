"""What the user is asked inside programs: one call, several alike, a pattern for the program, and how to stop it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from mcode.call import Status
from mcode.events import ApprovalRequested, ApprovalResolved, ToolStarted
from mcode.permissions.verdict import Behavior
from tests.agent.test_subagents import script
from tests.run_code.sessions import hook_script, project, result_of, session
from tests.stage import stage, use
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.events import Event
    from tests.stage import Stage

WRITES = (
    "const names = {names};\n"
    "const all = await Promise.all(names.map(n =>\n"
    "  tools.Write({{file_path: `src/${{n}}.txt`, content: n}})));\n"
    "return all.map(r => r.ok ? 'ok' : r.error.kind)"
)


def writes(*names: str) -> str:
    return WRITES.format(names=json.dumps(names))


def waiting(here: Stage) -> list[ApprovalRequested]:
    """What is asked about, in the order in which the program made the calls."""
    asked_about = [each for each in here.agent.desk.waiting if isinstance(each, ApprovalRequested)]
    return sorted(asked_about, key=lambda each: each.site.number if each.site else 0)


def audit_of(here: Stage, program: str = "prog") -> list[dict[str, Any]]:
    path = here.agent.session.directory / f"program-{program}.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    return [json.loads(line) for line in path.read_text().splitlines()]


async def asked(here: Stage, count: int, then: Callable[[], Any]) -> None:
    """Send a message, wait until so many calls are asked about, and do something."""
    here.agent.desk.attach()
    turn = asyncio.create_task(here.say("go"))
    await until(lambda: len(waiting(here)) == count or turn.done())
    assert not turn.done(), result_of(here)
    then()
    await turn


async def test_an_approval_says_where_in_the_program_the_call_is_made(tmp_path: Path) -> None:
    project(tmp_path)
    async with session(tmp_path, "// writes two files\n" + writes("a", "b")) as here:
        seen: list[ApprovalRequested] = []

        def look() -> None:
            seen.extend(waiting(here))
            here.agent.interrupt()

        await asked(here, 2, look)
        first, second = seen
        assert first.site is not None
        assert first.site.program == "prog"
        assert first.site.title == "writes two files"
        assert (first.site.number, first.site.line) == (1, 4)
        assert first.site.source.startswith("tools.Write(")
        assert second.site is not None
        assert (second.site.number, second.site.waiting) == (2, 1)
        assert first.digest != second.digest
        assert [choice.key for choice in first.choices] == ["once", "program", "session", "deny", "stop"]
        assert first.choices[1].label == "Allow edits under src/ until this program ends"
        assert first.choices[1].destination == "program"


async def test_a_call_with_large_arguments_is_asked_about_first_though_many_others_are_made_behind_it(
    tmp_path: Path,
) -> None:
    """Its arguments are read in a thread; those behind it must not take every place on the road meanwhile."""
    project(tmp_path)
    outside = json.dumps(str(tmp_path))
    code = (
        f"const path = {outside}, all = [tools.Grep({{pattern: 'q'.repeat(100000), path}})];\n"
        "for (let n = 1; n < 12; n++) all.push(tools.Read({file_path: `${path}/${n}`}));\n"
        "return (await Promise.all(all)).map(each => each.ok ? 'ok' : each.error.kind).join()"
    )
    async with session(tmp_path, code) as here:

        def stop() -> None:
            assert [each.call.tool for each in waiting(here)] == ["Grep", *["Read"] * 7]
            here.agent.interrupt()

        await asked(here, 8, stop)


async def test_20_one_answer_allows_exactly_the_calls_that_were_listed(tmp_path: Path) -> None:
    root = project(tmp_path)
    code = (
        writes(*"abcde") + ".concat((await tools.Write({file_path: 'src/f.txt', content: 'f'})).error.kind)"
    )
    async with session(tmp_path, code) as here:

        def allow() -> None:
            batch = here.agent.desk.batch_of(waiting(here)[0].approval_id)
            assert len(batch) == 5
            assert here.agent.desk.allow_batch(batch) == 5
            assert here.agent.desk.allow_batch(batch) == 0
            here.answer("deny")  # the sixth is asked about by itself

        await asked(here, 5, allow)
        assert result_of(here).endswith('["ok","ok","ok","ok","ok","denied"]')
        assert sorted(path.name for path in (root / "src").iterdir()) == [f"{n}.txt" for n in "abcde"]
        calls = [record for record in audit_of(here) if record["type"] == "call"]
        assert len({call["batch"] for call in calls[:5]}) == 1
        assert calls[0]["batch"].startswith("batch-")
        assert [call["decision"] for call in calls] == [*["approved by you"] * 5, "denied by you"]
        assert calls[5]["batch"] == ""
        resolved = [event.choice for event in here.of(ApprovalResolved)]
        assert resolved == [*["batch"] * 5, "deny"]


async def test_a_command_is_decided_anew_where_an_earlier_one_has_changed_the_directory(
    tmp_path: Path,
) -> None:
    """Both are asked about at once; the second would then run elsewhere than the user was told."""
    root = project(tmp_path)
    (root / "inner").mkdir()
    code = "await Promise.all(['cd inner; touch one', 'touch two'].map(command => tools.Bash({command})))"
    async with session(tmp_path, code) as here:
        directories: list[str] = []

        def allow() -> None:
            here.agent.desk.allow_batch(waiting(here))
            here.answer("deny")  # what is asked about from now on

        await asked(here, 2, allow)
        directories = [event.directory for event in here.of(ApprovalRequested)]
        assert directories == [str(root), str(root), str(root / "inner")]
        assert [path.name for path in root.rglob("*") if path.is_file()] == ["one"]
        assert [call["state"] for call in audit_of(here) if call["type"] == "call"] == ["ok", "denied"]


async def test_a_command_that_nobody_is_asked_about_is_judged_where_it_runs(tmp_path: Path) -> None:
    """Reading in the workspace is allowed; a link that an earlier command makes leads out of it."""
    root = project(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("theirs")
    link = f"ln -s {outside} way"
    code = f"""const commands = [{link!r}, "cat way/kept.txt"];
        const [, second] = await Promise.all(commands.map(command => tools.Bash({{command}})));
        return second.ok"""
    settings = {"permissions": {"allow": [f"Bash({link})"]}}
    async with session(tmp_path, code, settings=settings) as here:
        await here.say("go")
        assert (root / "way").is_symlink(), result_of(here)
        assert result_of(here).endswith("false"), result_of(here)


async def test_what_was_not_listed_is_not_allowed_with_the_rest(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with session(tmp_path, writes("a", "b", "c")) as here:

        def allow_two() -> None:
            assert len(here.agent.desk.batch_of(waiting(here)[0].approval_id)) == 3
            assert here.agent.desk.allow_batch(waiting(here)[:2]) == 2
            (left,) = waiting(here)
            assert here.agent.desk.batch_of(left.approval_id) == ()
            assert here.agent.desk.decide(left.approval_id, "deny")

        await asked(here, 3, allow_two)
        assert sorted(path.name for path in (root / "src").iterdir()) == ["a.txt", "b.txt"]


async def test_calls_of_other_tools_and_patterns_stand_alone(tmp_path: Path) -> None:
    project(tmp_path)
    code = (
        "await Promise.all([tools.Write({file_path: 'src/a.txt', content: ''}),\n"
        "  tools.Write({file_path: 'lib/a.txt', content: ''}), tools.Bash({command: 'make all'})])"
    )
    async with session(tmp_path, code) as here:

        def look() -> None:
            assert [here.agent.desk.batch_of(each.approval_id) for each in waiting(here)] == [(), (), ()]
            here.agent.interrupt()

        await asked(here, 3, look)


async def test_a_pattern_for_the_program_ends_with_it_and_covers_what_waits_already(tmp_path: Path) -> None:
    project(tmp_path)
    async with session(tmp_path, writes("a", "b"), writes("c")) as here:

        def allow() -> None:
            assert here.agent.desk.decide(waiting(here)[0].approval_id, "program")
            assert [rule.text for rule in here.agent.policy.grants] == []

        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: len(waiting(here)) == 2)
        allow()
        await until(lambda: [event.choice for event in here.of(ApprovalResolved)] == ["program", "rule"])
        await until(lambda: len(here.of(ApprovalRequested)) == 3)  # the next program asks anew
        assert here.agent.policy.grants == ()
        (asked_again,) = waiting(here)
        assert asked_again.call.parent == "prog2"
        assert here.agent.desk.decide(asked_again.approval_id, "session")
        await turn
        assert [rule.text for rule in here.agent.policy.grants] == ["Edit(/src/**)"]
        decisions = {each.call.id: each.decision for each in here.outcomes if each.call.tool == "Write"}
        assert decisions == {
            "prog_1": "approved by you",
            "prog_2": "allowed by your answer: `Edit(/src/**)` (this program)",
            "prog2_1": "approved by you",
        }


async def test_a_pattern_for_the_program_does_not_cover_a_sub_agent_that_runs_meanwhile(
    tmp_path: Path,
) -> None:
    project(tmp_path)
    task = {"prompt": "apple", "description": "d", "run_in_background": True}
    replies = script(
        main=[
            use("call_tool", "toolu_a", name="Agent", arguments=task),
            use("run_code", "prog", code=writes("a", "b")),
            "Done.",
            "Apple done.",
            "It is back.",
        ],
        apple=[use("Write", "toolu_w", file_path="src/c.txt", content="c")],
    )
    async with stage(tmp_path, replies, new_prefixes=4) as here:

        def left() -> list[str]:
            return [each.call.id for each in waiting(here)]

        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: len(left()) == 3)
        (mine, *_) = [each for each in waiting(here) if each.call.id == "prog_1"]
        assert here.agent.desk.decide(mine.approval_id, "program")
        await turn
        assert left() == ["toolu_w"]
        assert here.agent.policy.rules == ()
        assert result_of(here).endswith('["ok","ok"]')
        assert here.agent.desk.decide(waiting(here)[0].approval_id, "deny")
        await until(lambda: not here.agent.subagents.running)


async def test_a_pattern_kept_for_the_session_after_all_outlives_the_program(tmp_path: Path) -> None:
    project(tmp_path)
    code = writes("a") + ".concat(await tools.Write({file_path: 'src/b/c.txt', content: ''}))"
    async with session(tmp_path, code) as here:
        here.answer("session")
        await here.say("go")
        assert [rule.text for rule in here.agent.policy.grants] == ["Edit(/src/**)"]


async def test_a_call_that_a_rule_covered_is_asked_about_again_where_the_rule_is_gone_before_it_goes_on(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    async with session(tmp_path, writes("a", "b")) as here:

        def take_back(event: Event) -> None:
            if isinstance(event, ApprovalResolved) and event.choice == "rule":
                assert here.agent.policy.remove_rule("Edit(/src/**)", Behavior.ALLOW)

        here.agent.events.subscribe(take_back)
        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: len(waiting(here)) == 2)
        assert here.agent.desk.decide(waiting(here)[1].approval_id, "session")
        await until(lambda: len(here.of(ApprovalRequested)) == 3 or turn.done())
        (again,) = waiting(here)
        assert again.call.id == "prog_1"
        assert here.agent.desk.decide(again.approval_id, "deny")
        await turn
        assert [path.name for path in (root / "src").iterdir()] == ["b.txt"]


async def test_deny_and_stop_ends_the_program_and_the_turn_goes_on(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with session(tmp_path, writes("a", "b", "c")) as here:

        def stop() -> None:
            assert here.agent.desk.decide(waiting(here)[1].approval_id, "stop", "wrong folder")

        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("go"))
        await until(lambda: len(waiting(here)) == 3)
        stop()
        finished = await asyncio.wait_for(turn, 30)
        assert (finished.reason, finished.text) == ("end", "Done.")
        told = result_of(here)
        assert told.startswith("failed (stopped_by_user): 3 calls, 1 denied, 2 cancelled")
        assert "ended with that: wrong folder" in told
        assert "effects" not in told  # nothing ran, and nothing is said to have
        assert not (root / "src").exists()
        calls = [record for record in audit_of(here) if record["type"] == "call"]
        assert sorted(call["state"] for call in calls) == ["cancelled", "cancelled", "denied"]
        # What was cancelled while it was asked about was never decided: no time is better than one of 0.
        for call in calls:
            known = {"judged_ms", "duration_ms"} & set(call)
            assert bool(known) is (call["state"] == "denied"), call
        statuses = {each.call.id: each.status for each in here.outcomes}
        assert statuses["prog_2"] is Status.DENIED
        resolved = [(event.choice, event.decided_by) for event in here.of(ApprovalResolved)]
        assert resolved == [("stop", "user"), *[("withdrawn", "its program was stopped")] * 2]
        said = {each.text for each in here.outcomes if each.status is Status.CANCELLED}
        assert said == {"not started: its program was stopped before Write ran; nothing was done."}


async def test_what_waits_is_asked_about_in_the_order_of_the_program(tmp_path: Path) -> None:
    """A hook takes its time over the first calls, so the last one is the first to need an answer."""
    project(tmp_path)
    slow = hook_script(
        tmp_path,
        "slow",
        "import time\ntime.sleep({'a': 0.3, 'b': 0.15}.get(given['tool_input']['content'], 0))",
    )
    entry = {"matcher": "Write", "hooks": [{"type": "command", "command": slow}]}
    async with session(tmp_path, writes("a", "b", "c"), settings={"hooks": {"PreToolUse": [entry]}}) as here:
        await asked(here, 3, here.agent.interrupt)
        order = [event.call.arguments["content"] for event in here.of(ApprovalRequested)]
        assert order == ["a", "b", "c"]


async def test_a_call_that_an_answer_covers_before_it_is_asked_about_is_not_asked_about(
    tmp_path: Path,
) -> None:
    """Both edit one file, so the second is shown when the first is made; the answer to that one covers it."""
    root = project(tmp_path)
    async with session(tmp_path, writes("a", "b", "a")) as here:
        here.answer("program")
        await here.say("go")
        assert result_of(here).endswith('["ok","ok","ok"]')
        assert len(here.of(ApprovalRequested)) <= 2
        assert sorted(path.name for path in (root / "src").iterdir()) == ["a.txt", "b.txt"]


async def test_edits_of_one_file_in_one_go_are_shown_one_after_the_other_as_each_leaves_it(
    tmp_path: Path,
) -> None:
    root = project(tmp_path, a_txt="one\ntwo\n")
    code = (
        "await tools.Read({file_path: 'a.txt'});\n"
        "const edit = (old_string, new_string) => tools.Edit({file_path: 'a.txt', old_string, new_string});\n"
        "const all = await Promise.all([edit('one', '1'), edit('1', 'I')]);\n"
        "return all.map(r => r.ok)"
    )
    async with session(tmp_path, code) as here:
        here.answer("once")
        await here.say("go")
        assert result_of(here).endswith("[true,true]")
        assert (root / "a.txt").read_text() == "I\ntwo\n"
        second = here.of(ApprovalRequested)[1]
        assert second.preview.diff is not None
        assert "-1" in second.preview.diff
        started = [event.call.id for event in here.of(ToolStarted)]
        assert started == ["prog", "prog_1", "prog_2", "prog_3"]
