"""Whoever waits for the end of a process hears of it, with pidfd and without."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from mcode.process.end import EndWatch


def started(words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", words], stdin=subprocess.PIPE)


@pytest.mark.parametrize("pidfd", [True, False])
async def test_the_end_is_heard_of_and_the_code_is_still_there(
    pidfd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    elif sys.platform != "linux":
        pytest.skip("only Linux has pidfd")
    process, watch = started("read line; exit 7"), EndWatch()
    watch.begin(process)
    assert not watch.ended.is_set()
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(30):
        await watch.ended.wait()
    assert process.wait() == 7
    watch.close()


async def test_a_watch_that_is_closed_lets_go_of_whoever_waits() -> None:
    process, watch = started("read line"), EndWatch()
    watch.begin(process)
    waiting = asyncio.create_task(watch.ended.wait())
    watch.close()
    async with asyncio.timeout(30):
        await waiting
    process.communicate()
