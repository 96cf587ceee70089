"""Signals of the terminal's job control."""

from __future__ import annotations

import signal

from mcode.ui.signals import own_job_control


def test_what_a_screen_does_when_mcode_goes_on_ends_with_the_screen() -> None:
    taken: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    with own_job_control():
        for number in before:
            signal.signal(number, lambda number, _: taken.append(number))
        signal.raise_signal(signal.SIGCONT)
    signal.raise_signal(signal.SIGCONT)  # as a terminal that closes sends it, while mcode is still ending
    assert taken == [signal.SIGCONT]
    assert {number: signal.getsignal(number) for number in before} == before
