"""Cards of programs: their calls in the order in which they were made, with what went wrong and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.call import Call, FailureKind, Origin, Outcome, Status
from mcode.events import ToolFinished, ToolStarted
from mcode.tool import Preview
from mcode.ui.tui.block_rows import block_rows
from mcode.ui.tui.blocks import CallBlock, Fold
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import Glyphs
from tests.ui.tui.stories import DIFF

if TYPE_CHECKING:
    from mcode.events import Event

CODE = "// edits\nawait tools.Edit({file_path: 'src/cli.py'})"


def program(**arguments: Any) -> Call:
    return Call("p", "run_code", {"code": CODE, **arguments})


def call(number: int, tool: str = "Edit") -> Call:
    return Call(f"p_{number}", tool, {"file_path": f"src/{number}.py"}, Origin.PROGRAM, "p")


def started(given: Call) -> ToolStarted:
    return ToolStarted(given, Preview(str(given.arguments.get("file_path", "edits"))), "core")


def ended(given: Call, status: Status = Status.OK, text: str = "done", **changes: Any) -> ToolFinished:
    return ToolFinished(Outcome(given, status, text, full_text=text, **changes))


def card(*events: Event) -> tuple[Document, CallBlock]:
    document = Document(lambda: 0.0)
    for event in events:
        document.apply(event)
    (block,) = (each for each in document.blocks if isinstance(each, CallBlock))
    return document, block


def rows(block: CallBlock, width: int = 100) -> list[str]:
    return [row.text for row in block_rows(block, width, Glyphs(), 0.0)]


def test_calls_stand_in_the_order_of_the_program_whichever_was_shown_first() -> None:
    _, block = card(started(program()), *(started(call(number)) for number in (2, 10, 1, 3)))
    assert [child.call.id for child in block.node.children] == ["p_1", "p_2", "p_3", "p_10"]


def test_a_call_that_is_refused_before_it_begins_has_its_row_with_the_reason() -> None:
    refused = ended(
        call(1, "Read"), Status.FAILED, "limit: expected integer", failure=FailureKind.INVALID_ARGUMENTS
    )
    _, block = card(started(program()), refused)
    (row,) = [row for row in rows(block) if "FAIL" in row]
    assert "Read" in row
    assert "limit: expected integer" in row


def test_what_a_call_changed_is_shown_under_it_unless_the_user_saw_it_before() -> None:
    change = ended(call(1), diff=DIFF, decision="allowed by mode acceptEdits")
    document, block = card(started(program()), started(call(1)), change)
    assert any("+ " in row and "result = parse_line(line)" in row for row in rows(block))
    document.fold(block, Fold.FOLDED)
    assert not any("result = parse_line" in row for row in rows(block))
    _, seen = card(
        started(program()), started(call(1)), ended(call(1), diff=DIFF, decision="approved by you")
    )
    assert not any("result = parse_line" in row for row in rows(seen))


def test_the_end_of_the_console_stands_before_the_result() -> None:
    printed = "\n".join(f"entry {number}" for number in range(9))
    result = "\n".join(f"row {number}" for number in range(20))
    document, block = card(
        started(program()), ended(program(), text=f"ok: no calls\n\n{result}\n\nConsole:\n{printed}")
    )
    shown = rows(block)
    at = {
        text: next(index for index, row in enumerate(shown) if text in row) for text in ("entry 8", "row 0")
    }
    assert at["entry 8"] < at["row 0"]
    assert not any("entry 5" in row for row in shown)
    document.fold(block, Fold.OPEN)
    assert any("entry 0" in row for row in rows(block))


def test_a_program_that_the_user_started_was_not_mentioned() -> None:
    own = Call("own_1", "run_code", {"code": CODE}, Origin.USER)
    _, block = card(started(own), ended(own, text="ok: no calls"))
    assert not any("mentioned" in row for row in rows(block))


def test_the_unfolded_card_of_a_sub_agent_says_what_it_was_told() -> None:
    agent = Call("a", "Agent", {"prompt": "look at every caller\nand say which", "description": "callers"})
    inner = Call("a_1", "Read", {"file_path": "src/cli.py"}, Origin.MODEL, "a")
    _, block = card(started(agent), started(inner), ended(inner), ended(agent))
    assert not any("look at every caller" in row for row in rows(block))
    block.fold = Fold.OPEN
    head, *told = rows(block)
    assert "Agent" in head
    assert [row.strip(" │") for row in told[:2]] == ["look at every caller", "and say which"]
    assert all(row.strip(" │") for row in told)
