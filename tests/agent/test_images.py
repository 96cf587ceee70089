"""Images in a conversation: shown to the model, cheap in the journal, and never in the way of the session."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from mcode.agent.compaction import old_results, rendered
from mcode.agent.pictures import MOST_IMAGES, over_limit
from mcode.call import FailureKind, Status
from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.events import Notice
from mcode.images.picture import take_picture
from mcode.model.client import Failure, FailureClass
from mcode.wiring.options import Options
from tests.images.making import png
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from tests.stage import Stage

SHOT = png(64, 48)


def project(tmp_path: Path, **files: bytes) -> Path:
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return folder


def refusal(message: str, status: int = 400) -> dict[str, Any]:
    return {"error": {"status": status, "type": "invalid_request_error", "message": message}}


def images_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The images of a request, as the endpoint gets them, oldest first."""
    found: list[dict[str, Any]] = []
    for message in body["messages"]:
        for block in message["content"]:
            inner = block["content"] if isinstance(block.get("content"), list) else [block]
            found += [each for each in inner if each["type"] == "image"]
    return found


def is_shot(image: dict[str, Any], data: bytes = SHOT) -> bool:
    source = image["source"]
    return source["type"] == "base64" and base64.b64decode(source["data"]) == data


def warnings(here: Stage) -> str:
    return "\n".join(notice.text for notice in here.of(Notice) if notice.severity == "warning")


async def test_s_09_read_shows_an_image_by_its_content_whatever_its_name_says(tmp_path: Path) -> None:
    project(tmp_path, notes_txt=SHOT)
    async with stage(tmp_path, turns(use("Read", file_path="notes.txt"), "A red square.")) as here:
        await here.say("look at the notes")
        (image,) = images_of(here.client.requests[1])
        assert is_shot(image)
        assert image["source"]["media_type"] == "image/png"
        outcome = here.result()
        assert outcome.summary == f"PNG 64x48, {len(SHOT)} bytes"
        assert "64x48" in outcome.text


async def test_s_09_text_in_a_file_named_png_is_text(tmp_path: Path) -> None:
    project(tmp_path, shot_png=b"only words\n")
    async with stage(tmp_path, turns(use("Read", file_path="shot.png"), "Words.")) as here:
        await here.say("look")
        assert "only words" in here.result().text
        assert not images_of(here.client.requests[1])


async def test_a_mentioned_image_stands_in_front_of_the_message(tmp_path: Path) -> None:
    project(tmp_path, shot_png=SHOT)
    async with stage(tmp_path, turns("I see it.")) as here:
        await here.say("what is in @shot.png?")
        content = here.client.requests[0]["messages"][0]["content"]
        assert [block["type"] for block in content[-3:]] == ["text", "image", "text"]
        assert is_shot(content[-2])
        assert content[-1]["text"] == "what is in @shot.png?"


async def test_a_pasted_image_is_named_by_its_label_also_after_a_resume(tmp_path: Path) -> None:
    project(tmp_path)
    async with stage(tmp_path, turns("I see it.")) as here:
        label, facts = here.agent.pasted.keep(SHOT)
        assert (label, facts) == ("[Image #1]", f"PNG 64x48, {len(SHOT)} bytes")
        assert here.agent.pasted.keep(png(2, 2))[0] == "[Image #2]"
        await here.say(f"what is {label}?")
        (image,) = images_of(here.client.requests[0])
        assert is_shot(image)
        sent, session = here.client.requests[0]["messages"], here.agent.session.id
    async with stage(tmp_path, turns("Again."), source="resume", reference=session) as here:
        await here.say("and [Image #2], and [Image #7]?")
        first, second = images_of(here.client.requests[0])
        assert is_shot(first)
        assert is_shot(second, png(2, 2))
        assert (
            json.dumps(here.client.requests[0]["messages"])[: len(json.dumps(sent)) - 80]
            == (json.dumps(sent)[:-80])
        )
        assert "[Image #7] is no image of this session" in warnings(here)
    async with stage(tmp_path, turns("A copy."), source="fork", reference=session) as here:
        await here.say("still there?")
        assert len(images_of(here.client.requests[0])) == 2


async def test_the_journal_holds_what_an_image_is_and_not_its_bytes(tmp_path: Path) -> None:
    project(tmp_path, shot_png=SHOT)
    async with stage(tmp_path, turns(use("Read", file_path="shot.png"), "Yes.")) as here:
        await here.say("look at @shot.png too")
        text = here.agent.session.journal.path.read_text("utf-8")
        assert base64.b64encode(SHOT).decode()[:40] not in text
        records = [record["body"] for record in here.journal if record["type"] == "call_finished"]
        assert [body["images"][0]["width"] for body in records] == [64, 64]
        kept = [path for path in (here.agent.session.directory / "values").iterdir() if path.suffix == ".png"]
        assert [path.read_bytes() for path in kept] == [SHOT]


async def test_s_09_a_damaged_image_is_a_failed_call_and_never_reaches_the_endpoint(tmp_path: Path) -> None:
    project(tmp_path, shot_png=SHOT[:-20])
    async with stage(tmp_path, turns(use("Read", file_path="shot.png"), "I cannot see it.")) as here:
        await here.say("look")
        assert here.result().failure is FailureKind.TOOL_ERROR
        assert "it is damaged: its end is missing" in here.result().text
        assert not images_of(here.client.requests[1])


async def test_s_09_a_refused_image_is_replaced_by_a_note_and_the_session_goes_on(tmp_path: Path) -> None:
    project(tmp_path, old_png=png(2, 2), new_png=SHOT)
    script = turns(
        "The old one.", refusal("messages.2: Could not process image"), "Only the old one.", "Fine."
    )
    async with stage(tmp_path, script, new_prefixes=1) as here:
        await here.say("see @old.png")
        finished = await here.say("and @new.png")
        assert (finished.reason, finished.text) == ("end", "Only the old one.")
        _, refused, again = here.client.requests
        assert len(images_of(refused)) == 2
        (left,) = images_of(again)
        assert is_shot(left, png(2, 2))
        assert "[image new.png, PNG 64x48" in json.dumps(again["messages"])
        assert "image new.png" in warnings(here)
        await here.say("go on")
        assert images_of(here.client.requests[3]) == [left]
        kinds = [record["type"] for record in here.journal]
        assert "images_dropped" in kinds
        assert [r["body"]["reason"] for r in here.journal if r["type"] == "prefix"] == ["start", "image"]
        session = here.agent.session.id
    async with stage(tmp_path, turns("Resumed."), source="resume", reference=session) as here:
        await here.say("still well?")
        assert images_of(here.client.requests[0]) == [left]


async def test_s_09_images_refused_one_after_the_other_never_lock_a_session(tmp_path: Path) -> None:
    """An endpoint that says no at every image costs one turn for each, and then all goes on without."""
    project(tmp_path, a_png=png(2, 2), b_png=SHOT)
    no = refusal("Could not process image")
    async with stage(tmp_path, turns(no, no, no, "Now without any."), new_prefixes=2) as here:
        first = await here.say("see @a.png and @b.png")
        assert (first.reason, len(here.client.requests)) == ("error", 2)
        second = await here.say("go on")
        assert (second.reason, second.text) == ("end", "Now without any.")
        assert not images_of(here.client.requests[-1])


async def test_s_09_an_endpoint_without_images_is_asked_once_and_given_notes_from_then_on(
    tmp_path: Path,
) -> None:
    project(tmp_path, shot_png=SHOT, second_png=png(3, 3))
    script = turns(
        refusal("image input is not supported - hint: mmproj", 500), "I read notes.", "So be it.", "I see."
    )
    async with stage(tmp_path, script, new_prefixes=2) as here:
        assert (await here.say("see @shot.png")).text == "I read notes."
        assert "this endpoint takes none" in warnings(here)
        note = here.client.requests[1]["messages"][0]["content"][-2]["text"]
        assert note.startswith("[image shot.png, PNG 64x48")
        assert note.endswith("this endpoint takes no images, so it is not shown]")
        await here.say("and @second.png")
        assert not images_of(here.client.requests[2])
        assert "This endpoint takes no images: the model is told what there is" in warnings(here)
        here.agent.set_model("one-that-sees")
        await here.say("now?")
        assert len(images_of(here.client.requests[3])) == 2


async def test_a_program_cannot_look_at_an_image_and_is_told_so(tmp_path: Path) -> None:
    project(tmp_path, shot_png=SHOT)
    program = "const r = await tools.Read({file_path: 'shot.png'}); return r.error.message"
    async with stage(tmp_path, turns(use("run_code", code=program), "I read it myself.")) as here:
        await here.say("look")
        inner = next(each for each in here.outcomes if each.call.tool == "Read")
        assert inner.status is Status.FAILED
        assert "a program cannot look at one. Call Read on it outside" in here.result().text
        assert not images_of(here.client.requests[1])
        assert not here.result().images


async def test_a_hook_that_replaces_a_result_takes_its_image_away(tmp_path: Path) -> None:
    folder = project(tmp_path, shot_png=SHOT)
    hook = folder / "hook.py"
    hook.write_text(
        'import json; print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", '
        '"updatedToolOutput": "withheld"}}))'
    )
    entry = {"matcher": "Read", "hooks": [{"type": "command", "command": f"python3 {hook}"}]}
    settings = {"hooks": {"PostToolUse": [entry]}}
    async with stage(tmp_path, turns(use("Read", file_path="shot.png"), "Hm."), settings=settings) as here:
        await here.say("look")
        assert here.result().text.startswith("withheld")
        assert not images_of(here.client.requests[1])


async def test_what_an_image_costs_is_estimated_by_its_size(tmp_path: Path) -> None:
    project(tmp_path, shot_png=png(900, 500))
    async with stage(tmp_path, turns(use("Read", file_path="shot.png"), "Yes.")) as here:
        await here.say("look")
        assert here.agent.ledger is not None
        measured = here.agent.meter.measure(here.agent.builder.prefix, here.agent.builder.messages)
        assert 600 <= measured.results <= 700


def blocks(count: int, width: int = 4, *, size: int = 1_000) -> list[dict[str, Any]]:
    return [
        {"type": "image", "id": f"{number:064x}", "media_type": "image/png", "width": width, "height": 2}
        | {"bytes": size, "name": f"{number}.png"}
        for number in range(count)
    ]


def test_s_09_with_more_than_20_images_none_may_have_a_side_over_2000_pixels() -> None:
    wide = blocks(1, 2_500)
    small = [each for each in blocks(21) if each["id"] != wide[0]["id"]]
    assert over_limit([*wide, *small[:19]]) == {}
    assert list(over_limit([*wide, *small])) == [wide[0]["id"]]


def test_what_is_too_many_or_too_heavy_goes_oldest_first_and_by_halves() -> None:
    assert over_limit(blocks(MOST_IMAGES)) == {}
    many = blocks(MOST_IMAGES + 1)
    assert list(over_limit(many)) == [each["id"] for each in many[: MOST_IMAGES // 2 + 1]]
    heavy = blocks(7, size=3_500_000)
    assert list(over_limit(heavy)) == [each["id"] for each in heavy[:5]]


async def test_s_09_the_21st_image_puts_a_note_in_the_place_of_a_large_one(
    tmp_path: Path, monkeypatch: Any
) -> None:
    from mcode.images import scaling

    monkeypatch.setattr(scaling, "can_scale", lambda: False)
    project(tmp_path, wide_png=png(2_500, 1), **{f"s{number}_png": png(2, number) for number in range(1, 21)})
    small = " ".join(f"@s{number}.png" for number in range(1, 20))
    async with stage(tmp_path, turns("One.", "Twenty.", "More."), new_prefixes=1) as here:
        await here.say("see @wide.png")
        await here.say(f"see {small}")
        assert len(images_of(here.client.requests[1])) == 20
        await here.say("see @s20.png")
        assert len(images_of(here.client.requests[2])) == 20
        assert "more than 20 images are here" in json.dumps(here.client.requests[2]["messages"])


def test_a_summary_and_dropped_results_name_the_image_that_was_there() -> None:
    image = take_picture(png(900, 500), "shot.png").block
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "shown"}, image],
    }
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [image, {"type": "text", "text": "look"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]},
        {"role": "user", "content": [result]},
    ]
    text = rendered(messages, 10_000)
    assert text.count("[image shot.png, PNG 900x500") == 2
    (old,) = old_results(messages, 0)
    assert old.tokens > 600
    assert "[image shot.png" in old.text


async def test_the_view_of_a_request_says_how_long_an_image_is_and_shows_no_base64(tmp_path: Path) -> None:
    project(tmp_path, shot_png=SHOT)
    async with stage(tmp_path, turns("Yes.")) as here:
        await here.say("see @shot.png")
        registry = standard_registry()
        context = CommandContext(here.agent, here.bench.surroundings(), registry)
        view = await registry.run("/context view", context)
        encoded = base64.b64encode(SHOT).decode()
        assert f"[{len(encoded):,} characters of base64]" in view.text
        assert encoded[:30] not in view.text


def test_a_refusal_of_one_image_and_of_all_are_told_apart() -> None:
    from mcode.model.failures import Endpoint, explain_answer

    def subject(words: str, status: int = 400) -> str:
        failure: Failure = explain_answer(
            Endpoint("there"), status, {"error": {"type": "x", "message": words}}
        )
        assert failure.kind is FailureClass.REPAIR
        return failure.subject

    assert subject("Could not process image") == "image"
    assert subject("this model does not support images") == "images"
    assert subject("image input is not supported - hint: you may need the mmproj", 500) == "images"


async def test_an_endpoint_known_to_take_no_images_is_sent_none(tmp_path: Path) -> None:
    from mcode.model.profiles import choose_profile

    assert not choose_profile("https://api.deepseek.com/anthropic").images
    assert choose_profile("https://api.anthropic.com").images
    project(tmp_path, shot_png=SHOT)
    async with stage(tmp_path, turns("No eyes."), options=Options()) as here:
        here.agent.builder.made.pictures.accepted = False
        await here.say("see @shot.png")
        assert not images_of(here.client.requests[0])
        assert "this endpoint takes no images" in json.dumps(here.client.requests[0])
