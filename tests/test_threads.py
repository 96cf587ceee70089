"""Threads that load what is slow: mcode ends without waiting for them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from mcode.threads import in_own_thread

ENDLESS = """
import asyncio, sys, time
from mcode.threads import in_own_thread
import mcode.__main__ as program

async def leave():
    loading = asyncio.ensure_future(in_own_thread(lambda: time.sleep(600)))
    await asyncio.sleep(0)
    loading.cancel()

def answer(arguments):
    asyncio.run(leave())
    print("said")
    return 7

program._answer = answer
sys.exit(program.main())
"""
"""mcode with a library that takes ten minutes to load, and a user who leaves at once."""


async def test_what_a_thread_comes_to_is_given_back_and_what_it_raises_is_raised() -> None:
    def fail() -> None:
        raise ImportError("there is no such library")

    assert await in_own_thread(lambda: threading.current_thread().name) != threading.current_thread().name
    with pytest.raises(ImportError, match="no such library"):
        await in_own_thread(fail)


def test_a_loop_that_is_closed_does_not_wait_for_a_thread_that_still_loads() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def load() -> None:
        go_on.wait(30)
        ended.set()

    async def leave() -> None:
        loading = asyncio.ensure_future(in_own_thread(load))
        await asyncio.sleep(0)
        loading.cancel()

    asyncio.run(leave())
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(30)


def test_the_program_ends_at_once_with_its_code_and_its_words_while_a_thread_loads() -> None:
    ran = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "said\n", "")
