"""The offline guide's steps, with results, denials and errors as the tools word them."""

from __future__ import annotations

from typing import Any

import pytest

from mcode.model.guide import MODEL, WELCOME, guide_client, guide_script
from mcode.model.script import RequestView
from tests.model.guide_session import DENIED, LISTING, TOOLS, GuideSession, at_step

SCRATCH = "mcode-guide-scratch.txt"
NOT_READ = (
    f"/home/me/{SCRATCH} has not been read in this session. The file is unchanged. Read it first (any part of "
    "it), then repeat the call."
)


async def test_whatever_comes_first_is_welcomed_by_a_script_that_says_so_and_looks_around() -> None:
    session = GuideSession()
    words = await session.say("Could you please refactor my parser so that it handles nested brackets?")
    assert "a fixed script, not a language model" in words
    assert "Step 1 of 6" in words
    assert session.call == ("Glob", {"pattern": "*"})
    words = await session.give(LISTING)
    assert "3 files: `src.py`, `README.md`, `notes.txt`" in words
    assert words.endswith("a script, not a model.)")
    assert "`next`" in words
    assert session.call is None
    await session.say("next")
    assert "script" not in await session.give("1\t# Parser")


async def test_all_steps_follow_one_another_and_leave_nothing_behind() -> None:
    session = GuideSession()
    await session.say("hi")
    await session.give(LISTING)

    assert "Step 2 of 6" in await session.say("next")
    assert session.call == ("Read", {"file_path": "README.md", "limit": 20})
    words = await session.give("1\t\n2\t# Parser\n3\tText.\n\nThe file has 80 lines.")
    assert "first 3 lines of `README.md`" in words
    assert "`# Parser`" in words
    assert "/context" in words

    assert "Step 3 of 6" in await session.say("next")
    assert session.call is not None
    assert session.call[0] == "Bash"
    words = await session.give("total 12\n-rw-r--r-- 1 me me 80 README.md")
    assert "It printed 2 lines" in words
    assert "Esc" in words

    words = await session.say("next")
    assert "Step 4 of 6" in words
    assert "ask you" in words
    assert session.call == ("Glob", {"pattern": "mcode-guide-scratch*"})
    words = await session.give("No file matches.")
    assert session.call is not None
    name, arguments = session.call
    assert (name, arguments["file_path"]) == ("Write", SCRATCH)
    await session.give(f"Created {SCRATCH} with 2 lines.")
    assert session.call[0] == "Edit"
    assert session.call[1]["old_string"] in arguments["content"]
    assert session.call[1]["new_string"] not in arguments["content"]
    words = await session.give(f"Changed {SCRATCH}.")
    assert "one line of `mcode-guide-scratch.txt` changed" in words

    assert "Step 5 of 6" in await session.say("next")
    assert session.call[0] == "TodoWrite"
    todos = session.call[1]["todos"]
    assert [todo["status"] for todo in todos] == ["completed"] * 4 + ["in_progress", "pending"]
    words = await session.give("The list is kept.")
    for thing in ("/context", "/permissions", "Esc", "~/.mcode/projects/"):
        assert thing in words

    words = await session.say("next")
    assert "Step 6 of 6" in words
    assert "mcode asks you" in words
    assert session.call == (
        "Bash",
        {"command": f"rm {SCRATCH}", "description": "Remove the guide's scratch file"},
    )
    words = await session.give("(no output)")
    assert "is gone" in words
    for setting in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "--base-url", "--model"):
        assert setting in words

    words = await session.say("next")
    assert "at their end" in words
    assert session.call is None


@pytest.mark.parametrize("words", ["next", "Next!", "ok", "continue", "go on", "yes", "/next"])
async def test_the_next_step_comes_with_many_words(words: str) -> None:
    session = await at_step(2)
    assert "Step 2 of 6" in await session.say(words)


async def test_a_step_can_be_repeated_and_all_of_them_begun_anew() -> None:
    session = await at_step(3)
    assert "Step 2 of 6" in await session.say("again")
    await session.give("1\tx")
    assert "Step 1 of 6" in await session.say("start over")
    await session.give(LISTING)
    assert "Step 2 of 6" in await session.say("next")


async def test_a_resumed_session_goes_on_where_it_was() -> None:
    session = await at_step(4)
    session.client = guide_client(pace=0)
    assert "Step 4 of 6" in await session.say("next")


async def test_an_empty_directory_is_no_hindrance() -> None:
    session = GuideSession()
    await session.say("hello")
    await session.give("No file matches.")
    assert session.call == ("Glob", {"pattern": "**/*"})
    assert "no file here at all" in await session.give("No file matches.")
    await session.say("next")
    assert session.call == ("Glob", {"pattern": "**/*"})
    assert "I skip the reading" in await session.give("No file matches.")
    assert "Step 3 of 6" in await session.say("next")


async def test_files_further_down_are_found_where_the_top_has_none() -> None:
    session = GuideSession()
    await session.say("hello")
    await session.give("No file matches.")
    assert "1 file: `deep/README.md`" in await session.give("deep/README.md")
    await session.say("next")
    assert session.call == ("Read", {"file_path": "deep/README.md", "limit": 20})


async def test_a_huge_directory_is_counted_by_what_the_tool_says() -> None:
    session = GuideSession()
    await session.say("hello")
    paths = "\n".join(f"file{number}.dat" for number in range(250))
    words = await session.give(
        f"{paths}\n\nThe first 250 of 12,345 are shown. Narrow the search to see others."
    )
    assert "12,345 files: `file0.dat`" in words
    assert "and 12,339 more" in words
    await session.say("list the files")
    stopped = "The search stopped after 5 s; results are incomplete. Narrow path or glob."
    assert "At least 250 files" in await session.give(f"{paths}\n\n{stopped}")


async def test_private_files_are_not_opened_unasked() -> None:
    session = GuideSession()
    await session.say("hello")
    await session.give(".env\nsecrets.md\nid_rsa\napi_key.txt\npasswords.txt\nphoto.jpg")
    assert "I skip the reading" in await session.say("next")
    assert session.call is None


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize(
    ("result", "said"),
    [
        (DENIED, "that is fine"),
        ("interrupted: it ran when the user stopped the turn.", "You stopped that"),
        ("The disk is on fire.", "nothing is lost"),
    ],
)
async def test_a_call_of_any_step_may_be_denied_stopped_or_fail(step: int, result: str, said: str) -> None:
    session = await at_step(step) if step > 1 else GuideSession()
    await session.say("next")
    assert session.call is not None
    words = await session.give(result, is_error=True)
    assert said in words
    assert result.splitlines()[0][:40] in words
    assert session.call is None
    if step < 6:
        assert f"Step {step + 1} of 6" in await session.say("next")


async def test_a_denied_write_leaves_no_file_and_no_offer_to_remove_one() -> None:
    session = await at_step(4)
    await session.say("next")
    await session.give("No file matches.")
    words = await session.give(DENIED, is_error=True)
    assert "No file was written." in words
    assert session.call is None
    await session.say("remove the scratch file")
    assert session.call is None


async def test_a_denied_edit_leaves_the_file_as_it_was_and_can_be_tried_again() -> None:
    session = await at_step(4)
    await session.say("next")
    await session.give("No file matches.")
    await session.give("Created.")
    before = session.call
    assert f"`{SCRATCH}` is as it was" in await session.give(DENIED, is_error=True)
    await session.say("show me an edit")
    assert session.call == before


async def test_edits_after_the_first_take_turns_on_the_same_line() -> None:
    session = await at_step(5)
    await session.say("show me an edit")
    assert session.call is not None
    first = session.call[1]
    await session.give("Changed.")
    await session.say("show me an edit")
    assert session.call[1]["old_string"] == first["new_string"]
    assert session.call[1]["new_string"] != first["new_string"]


async def test_a_scratch_file_of_the_users_is_never_touched() -> None:
    session = GuideSession()
    await session.say("show me an edit")
    words = await session.give(f"{SCRATCH}\nmcode-guide-scratch-2.txt")
    assert "exists already and may be yours" in words
    assert session.call is not None
    assert session.call[1]["file_path"] == "mcode-guide-scratch-3.txt"


async def test_a_name_that_is_taken_after_all_is_left_alone() -> None:
    session = GuideSession()
    await session.say("show me an edit")
    await session.give("No file matches.")
    names: list[Any] = []
    words = ""
    for _ in range(3):
        assert session.call is not None
        names.append(session.call[1]["file_path"])
        words = await session.give(NOT_READ, is_error=True)
    assert names == [SCRATCH, "mcode-guide-scratch-2.txt", "mcode-guide-scratch-3.txt"]
    assert session.call is None
    assert "No file was written" in words


@pytest.mark.parametrize(
    ("result", "is_error", "said"),
    [
        ("(no output)", False, "is gone"),
        (DENIED, True, "still there"),
        (
            "rm: cannot remove 'mcode-guide-scratch.txt': No such file\n\nExit code 1 after 0.01 s.",
            False,
            "still there",
        ),
    ],
)
async def test_the_scratch_file_is_removed_only_if_the_user_says_yes(
    result: str, is_error: bool, said: str
) -> None:
    session = await at_step(6)
    await session.say("please remove the scratch file")
    assert session.call is not None
    assert session.call[1]["command"] == f"rm {SCRATCH}"
    assert said in await session.give(result, is_error=is_error)
    await session.say("remove it")
    assert (session.call is None) == (said == "is gone")


async def test_a_turn_that_ended_with_a_denial_is_acknowledged_in_the_next() -> None:
    session = await at_step(4)
    await session.say("next")
    await session.give("No file matches.")
    words = await session.give_and_say(DENIED, "next", is_error=True)
    assert "You said no to `Write`" in words
    assert "Step 5 of 6" in words


async def test_a_tool_that_a_rule_hides_is_left_out_of_the_steps() -> None:
    session = GuideSession(tools=("Read",))
    words = await session.say("hello")
    assert "a fixed script" in words
    assert "no `Glob` tool" in words
    for number in range(2, 7):
        assert f"Step {number} of 6" in await session.say("next")
        assert session.call is None


async def test_without_any_tool_the_guide_sums_up() -> None:
    session = await at_step(5)
    session.tools = ()
    words = await session.say("Summarise the conversation so far for the next model.")
    assert words == (
        "A session with mcode's offline guide, a script. Step 4 of 6 was the last. "
        f"The scratch file {SCRATCH} is there."
    )


async def test_a_compacted_session_goes_on_from_its_summary() -> None:
    session = GuideSession()
    session.messages = [
        {"role": "user", "content": [{"type": "text", "text": "Summary: Step 4 of 6 was the last."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Understood."}]},
    ]
    assert "Step 5 of 6" in await session.say("next")


async def test_notes_of_hooks_beside_the_users_text_do_not_hide_it() -> None:
    session = await at_step(2)
    note = {"type": "text", "text": "A hook has something to say about your code."}
    session.messages.append({"role": "user", "content": [{"type": "text", "text": "next"}, note]})
    view = RequestView({"messages": session.messages, "tools": [{"name": name} for name in TOOLS]}, 1)
    answer = guide_script().fallback
    assert callable(answer)
    assert "Step 2 of 6" in answer(view).blocks[0]["text"]


async def test_the_guide_names_itself_and_its_one_model() -> None:
    client = guide_client()
    assert client.name == "offline guide"
    (model,) = await client.list_models()
    assert (model.id, model.window) == (MODEL, 200_000)
    assert "a fixed script, not a model" in WELCOME
    assert "\n" not in WELCOME


async def test_a_greeting_between_two_steps_is_answered_with_where_we_are() -> None:
    session = await at_step(3)
    words = await session.say("hello")
    assert "We have had step 2 of 6, reading a file." in words
    assert words.endswith("Type `next` to go on.")
    assert "Step 3 of 6" in await session.say("next")


async def test_after_the_last_step_no_answer_asks_for_the_next_step() -> None:
    session = await at_step(6)
    await session.say("next")
    await session.give("(no output)")
    for asked in ("hello", "context", "what is this?", "next", "help"):
        words = await session.say(asked)
        assert "Type `next`" not in words
        assert "`next`: go on" not in words
    assert "at their end" in await session.say("hello")
    await session.say("start over")
    assert "Type `next`" in await session.give(LISTING)
