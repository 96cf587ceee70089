"""Texts of old blocks: put away, read back the same, and never lost."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.call import Call, Origin, Outcome, Status
from mcode.events import (
    AnswerSuperseded,
    AssistantMessage,
    HookRan,
    Notice,
    RequestStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.tool import Preview
from mcode.ui.tui.block_rows import block_rows
from mcode.ui.tui.blocks import AnswerBlock, Block, CallBlock, Fold, UserBlock
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import Glyphs
from mcode.ui.tui.old_blocks import KEPT, KEPT_BORROWED, REST, STEP
from mcode.ui.tui.old_texts import OldTexts
from mcode.ui.tui.packing import LOST
from tests.ui.tui.stories import DIFF, MARKDOWN, finish, program_at_work, start, troubles, work_done

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    import pytest

    from mcode.events import Event
    from mcode.ui.tui.rows import Row
    from mcode.ui.tui.text_holder import TextHolder

LONG = "What is said here is long enough to be worth its way into the file and back again. " * 3


def folded(events: Iterable[Event], kept: int = 0, texts: OldTexts | None = None) -> Document:
    document = Document(lambda: 7.0, texts, kept)
    for event in events:
        document.apply(event)
    return document


def tidied(document: Document) -> Document:
    while document.untidy:
        document.tidy()
    return document


def holders(blocks: Iterable[Block]) -> list[TextHolder]:
    return [holder for block in blocks for holder in block.holders()]


def away(blocks: Iterable[Block]) -> int:
    return sum(holder.is_away for holder in holders(blocks))


def seen(block: Block) -> tuple[list[list[Row]], str]:
    """All that a reader can get of a block: its rows, wide and narrow, folded and not, and its text."""
    fold = block.fold
    rows: list[list[Row]] = []
    for block.fold in Fold:
        rows += [block_rows(block, width, Glyphs(), 7.0) for width in (100, 40)]
    block.fold = fold
    return rows, block.whole_text()


def everything() -> Iterator[Event]:
    """Blocks of all kinds, in all states that they end in."""
    yield from work_done()
    yield from troubles()
    yield from program_at_work()
    yield TurnFinished(1, "interrupted")
    yield TurnStarted(2, f"{LONG}\nand \ud800 half a letter, \x1b[31m a colour and \u202e a turn")
    yield RequestStarted(2)
    yield ThinkingDelta(LONG)
    yield TextDelta(MARKDOWN * 3 + "\n~~~~ python\n" + "x = 1\n" * 90 + "~~~~\n\n7. seven\n8. eight\n")
    yield AssistantMessage({"content": []})
    yield RequestStarted(2)
    yield ThinkingDelta(LONG)
    yield TextDelta(LONG)
    yield AnswerSuperseded("the stream broke")
    own = ToolStarted(Call("own", "Bash", {"command": f"echo {LONG}"}, Origin.USER), Preview(LONG))
    yield own
    yield ToolFinished(Outcome(own.call, Status.OK, LONG, full_text=LONG, summary="exit 0"))
    write = start(
        "w", "Write", "notes.txt", file_path="notes.txt", content=LONG, more=[{"deep": [1.5, None]}]
    )
    yield write
    yield finish(write, "1 line", "written", diff=DIFF)
    yield HookRan("h", "PostToolUse", "format-on-edit", "blocked", exit_code=2, stderr=LONG)
    yield TodosChanged(({"content": LONG, "status": "pending"}, {"content": "b", "status": "completed"}))
    for severity in ("info", "warning", "error"):
        yield Notice(f"{LONG}{severity}", severity)
    yield TurnFinished(2, "error", LONG)


def test_every_kind_of_block_shows_the_same_once_its_text_is_away() -> None:
    here, document = folded(everything(), kept=1_000), tidied(folded(everything()))
    for each in (here, document):
        each.say(LONG, "divider")
        each.say(LONG, "command")
    tidied(document)
    assert away(here.blocks) == 0
    kinds = {type(block) for block in document.blocks}
    named = {kind.__name__ for kind in kinds}
    assert named == {kind.__name__ for kind in Block.__subclasses__()}, "a kind of block is in no story"
    assert {type(block) for block in document.blocks if away([block])} == kinds
    for first, second in zip(here.blocks, document.blocks, strict=True):
        assert seen(first) == seen(second)


def test_what_was_read_back_is_put_away_again_and_written_once() -> None:
    texts = OldTexts()
    document = tidied(folded(everything(), texts=texts))
    before, written = away(document.blocks), texts.written
    for _ in range(3):
        for block in document.blocks:
            block.whole_text()
        assert away(document.blocks) == 0
        tidied(document)
        assert away(document.blocks) >= before - KEPT_BORROWED
    assert texts.written == written


def test_the_newest_blocks_keep_their_text() -> None:
    events = [TurnStarted(number, f"{number} {LONG}") for number in range(50)]
    document = tidied(folded(events, kept=20))
    assert [block.number for block in document.blocks if away([block])] == list(range(30))
    assert KEPT == 2_000


def test_a_text_that_is_short_stays_since_its_place_takes_as_much() -> None:
    document = tidied(folded([TurnStarted(1, "yes"), TurnStarted(2, LONG)]))
    assert [away([block]) for block in document.blocks] == [0, 1]


def test_an_answer_that_still_comes_and_a_call_that_still_runs_are_not_put_away() -> None:
    document = folded([start("b", "Bash", "sleep 9", command=LONG), TextDelta(f"{LONG}\n\n")])
    tidied(document)
    assert away(document.blocks) == 0
    document.apply(TextDelta("- and its end"))
    document.apply(AssistantMessage({"content": []}))
    document.apply(finish(start("b", "Bash", "sleep 9", command=LONG), "exit 0", data={"stdout": LONG}))
    tidied(document)
    assert away(document.blocks) == 2
    card, answer = document.blocks
    assert answer.whole_text().endswith("- and its end\n")
    assert isinstance(card, CallBlock)
    assert card.node.text == LONG.rstrip("\n")


def test_a_late_result_of_an_old_card_is_kept() -> None:
    agent = Call("a", "Agent", {"prompt": LONG})
    going_on = Outcome(agent, Status.OK, LONG, data={"state": "running"}, summary="goes on")
    document = folded(
        [ToolStarted(agent, Preview("scout"), "core"), ToolFinished(going_on), TurnFinished(1, "end")]
    )
    tidied(document)
    assert away(document.blocks) == 1
    inner = Call("b", "Bash", {"command": LONG}, parent="a")
    document.apply(ToolStarted(inner, Preview("ls"), "core"))
    document.apply(ToolFinished(Outcome(inner, Status.OK, f"inner {LONG}", data={"stdout": f"inner {LONG}"})))
    tidied(document)
    assert away(document.blocks) == 2
    document.apply(ToolFinished(Outcome(agent, Status.FAILED, f"late {LONG}", summary="failed")))
    tidied(document)
    (card,) = document.blocks
    assert isinstance(card, CallBlock)
    assert card.node.call == agent
    assert card.node.text == f"late {LONG}"
    assert f"inner {LONG}".strip() in card.whole_text()


def test_what_an_old_card_prints_later_takes_the_place_of_what_it_held() -> None:
    started = start("b", "Bash", "make", command="make")
    document = tidied(folded([started, finish(started, "background job b1", data={"stdout": LONG})]))
    (card,) = document.blocks
    assert isinstance(card, CallBlock)
    assert card.node.text == LONG
    card.node.text = f"more {LONG}"
    document.touch(card)
    for number in range(KEPT_BORROWED + 1):
        document.apply(TurnStarted(number, f"{number} {LONG}"))
    tidied(document)
    for block in document.blocks[1:]:
        block.whole_text()  # others are read since, so this one is put away again
    tidied(document)
    assert away([card]) == 1
    assert card.node.text == f"more {LONG}"


def test_turns_that_are_undone_and_cards_that_are_folded_need_no_text() -> None:
    document = tidied(folded(everything()))
    before = away(document.blocks)
    document.go_back(1, "back to the beginning")
    for block in document.blocks:
        document.fold(block, Fold.FOLDED)
    tidied(document)
    assert away(document.blocks) >= before
    assert all(block.undone for block in document.blocks[:-1])


def test_one_step_is_so_small_that_no_key_waits_for_it() -> None:
    document = folded(TurnStarted(number, f"{number} {LONG}") for number in range(3_000))
    for step in range(1, 4):
        document.tidy()
        assert away(document.blocks[: 4 * STEP]) == step * STEP
    big = [start(f"b{number}", "Bash", "x", command="x") for number in range(4)]
    document = Document(kept=0)
    for each in big:
        document.apply(each)
        document.apply(finish(each, "exit 0", data={"stdout": "long line\n" * 40_000}))
    document.tidy()
    assert away(document.blocks) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
any_text = st.text(st.characters(codec=None)) | st.text("#-*`~> 1.|\n\tab\x1b\ud83d\ude00", max_size=300)


@settings(max_examples=40, deadline=None)
@given(
    text=any_text,
    pieces=st.lists(any_text, max_size=6),
    arguments=st.dictionaries(st.text(), json_values, max_size=4),
    diff=st.none() | any_text,
    status=st.sampled_from(Status),
    origin=st.sampled_from(Origin),
)
def test_whatever_a_block_holds_comes_back_as_it_was(
    text: str,
    pieces: list[str],
    arguments: dict[str, object],
    diff: str | None,
    status: Status,
    origin: Origin,
) -> None:
    call = Call("id", "Edit", arguments, origin, turn=3, message="m")
    events = [
        TurnStarted(1, text),
        *map(TextDelta, ["start ", *pieces]),
        AssistantMessage({"content": []}),
        *map(ThinkingDelta, pieces),
        AssistantMessage({"content": []}),
        ToolStarted(call, Preview(text), "server"),
        ToolFinished(Outcome(call, status, text * 40, diff=diff)),
        TodosChanged(({"content": text, "status": "pending", "more": arguments},)),
        Notice(text * 30),
    ]
    here, document = folded(events, kept=1_000), tidied(folded(events))
    for first, second in zip(here.blocks, document.blocks, strict=True):
        for one, other in zip(first.holders(), second.holders(), strict=True):
            for name in one.HELD:
                held, back = getattr(one, name), getattr(other, name)
                if isinstance(first, AnswerBlock):
                    held, back = _chunks(first), _chunks(second)
                assert held == back
                assert type(held) is type(back)


def _chunks(block: Block) -> list[dict[str, object]]:
    assert isinstance(block, AnswerBlock)
    assert block.settled
    return [
        {name: getattr(chunk, name) for name in type(chunk).__dataclass_fields__}
        for chunk in block.source.chunks
    ]


def test_the_file_has_no_name_and_is_the_users_own(tmp_path: Path) -> None:
    texts = OldTexts(lambda: tmp_path)
    document = tidied(folded([TurnStarted(1, LONG)], texts=texts))
    assert away(document.blocks) == 1
    assert list(tmp_path.iterdir()) == []
    assert texts._file is not None
    found = os.fstat(texts._file.fileno())
    assert (found.st_nlink, stat.S_IMODE(found.st_mode), found.st_size) == (0, 0o600, texts.written)
    assert found.st_dev == tmp_path.stat().st_dev
    assert not os.get_inheritable(texts._file.fileno())


def test_k_01_what_the_file_holds_can_be_read_by_nobody_else_and_not_be_changed() -> None:
    texts = OldTexts()
    secret = "sk-" + "ant-" + "a1b2c3d4" * 4
    document = tidied(
        folded([TurnStarted(1, f"{LONG}{secret}"), TurnStarted(2, f"{LONG}{secret}")], texts=texts)
    )
    assert texts._file is not None
    descriptor = texts._file.fileno()
    raw = os.pread(descriptor, 1 << 20, 0)
    assert len(raw) == texts.written
    assert secret.encode() not in raw
    assert b"worth its way" not in raw
    half = len(raw) // 2
    assert raw[:half] != raw[half:], "the same text is written in two ways"
    os.pwrite(descriptor, bytes([raw[40] ^ 1]), 40)
    first, second = document.blocks
    assert (first.whole_text(), second.whole_text()) == (LOST, f"{LONG}{secret}")


def test_nothing_is_left_of_it_after_kill_9(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, signal, sys\n"
        "from mcode.ui.tui.old_texts import OldTexts\n"
        "texts = OldTexts(lambda: pathlib.Path(sys.argv[1]))\n"
        "place = texts.keep(b'secret' * 1000)\n"
        "print(place.read()[:6].decode(), texts.written > 6000, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert (ran.returncode, ran.stdout) == (-signal.SIGKILL, b"secret True\n"), ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_closed_with_whoever_uses_it(tmp_path: Path) -> None:
    texts = OldTexts(lambda: tmp_path)
    texts.keep(b"x")
    file = texts._file
    del texts
    assert file is not None
    assert file.closed


def test_where_the_sessions_directory_is_gone_the_systems_own_for_temporary_files_is_taken(
    tmp_path: Path,
) -> None:
    texts = OldTexts(lambda: tmp_path / "gone")
    assert away(tidied(folded([TurnStarted(1, LONG)], texts=texts)).blocks) == 1


def test_where_no_file_can_be_made_the_text_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    document = tidied(folded(everything(), texts=OldTexts(lambda: tmp_path / "gone"), kept=1))
    assert away(document.blocks) == 0
    here = folded(everything(), kept=1_000)
    assert [block.whole_text() for block in document.blocks] == [block.whole_text() for block in here.blocks]


@contextmanager
def no_file_larger_than(size: int) -> Generator[None]:
    """Writes beyond that fail with an error of the system's."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_cannot_be_written_stays_in_memory_and_is_tried_again_later() -> None:
    texts = OldTexts()
    document = folded((TurnStarted(number, f"{number} {LONG}") for number in range(10)), texts=texts)
    with no_file_larger_than(1_000):
        tidied(document)
    assert 0 < away(document.blocks) < 10
    assert texts.written <= 1_000
    stuck = away(document.blocks)
    assert [block.whole_text() for block in document.blocks] == [f"{number} {LONG}" for number in range(10)]
    for number in range(10, 10 + REST):
        assert away(document.blocks) <= stuck
        assert not document.untidy or number == 10
        document.apply(TurnStarted(number, f"{number} {LONG}"))
        document.tidy()
    tidied(document)
    assert away(document.blocks) >= 10 + REST - KEPT_BORROWED
    assert [block.whole_text() for block in document.blocks] == [
        f"{number} {LONG}" for number in range(10 + REST)
    ]


def test_a_text_that_cannot_be_read_back_says_so_and_nothing_else_fails() -> None:
    texts = OldTexts()
    document = tidied(folded(everything(), texts=texts))
    assert texts._file is not None
    os.ftruncate(texts._file.fileno(), 0)
    for block in document.blocks:
        seen(block)
    question = [block for block in document.blocks if isinstance(block, UserBlock)][-1]
    assert question.whole_text() == LOST
    assert any(LOST[:30] in row.text for row in block_rows(question, 100, Glyphs(), 7.0))
