"""Pastes that the terminal does not mark."""

from __future__ import annotations

from mcode.ui.paste import TypingPace


def typed(pace: TypingPace, count: int, *, start: float, gap: float) -> float:
    for at in range(count):
        pace.typed(start + at * gap)
    return start + count * gap


def test_an_enter_in_the_middle_of_fast_keys_is_a_line_end_and_so_is_the_last_one() -> None:
    pace = TypingPace()
    now = typed(pace, 10, start=0.0, gap=0.0)
    assert pace.enter_is_pasted(now, more_follows=True)
    now = typed(pace, 10, start=now, gap=0.0)
    assert pace.enter_is_pasted(now, more_follows=False)


def test_one_line_that_comes_at_once_is_sent_by_its_enter() -> None:
    pace = TypingPace()
    assert not pace.enter_is_pasted(typed(pace, 10, start=0.0, gap=0.0), more_follows=False)


def test_keys_of_a_person_are_never_taken_for_a_paste() -> None:
    pace = TypingPace()
    now = typed(pace, 10, start=0.0, gap=0.03)
    assert not pace.enter_is_pasted(now, more_follows=True)


def test_a_paste_ends_with_the_first_pause() -> None:
    pace = TypingPace()
    now = typed(pace, 10, start=0.0, gap=0.0)
    assert pace.enter_is_pasted(now, more_follows=True)
    now = typed(pace, 3, start=now + 1.0, gap=0.2)
    assert not pace.enter_is_pasted(now, more_follows=False)
