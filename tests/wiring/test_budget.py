"""`--max-budget-usd` holds, or is refused before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcode.cli import run
from mcode.errors import UsageError
from mcode.wiring.options import Options
from tests.stage import stage, turns, use
from tools.local_session import MODEL

if TYPE_CHECKING:
    from pathlib import Path

PRICED: dict[str, Any] = {"mcode": {"prices": {MODEL: {"input": 1_000_000, "output": 1_000_000}}}}


async def test_a_model_without_a_price_is_not_asked_where_a_budget_is_set(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        async with stage(tmp_path, turns("hi"), options=Options(max_budget=0.5)):
            pass
    for word in (MODEL, "mcode.prices", "settings.json", '"input": 3'):
        assert word in str(refused.value)


async def test_a_run_ends_once_its_budget_is_spent(tmp_path: Path) -> None:
    script = turns(use("Glob", pattern="*"), "never asked for")
    async with stage(tmp_path, script, settings=PRICED, options=Options(max_budget=0.5)) as opened:
        finished = await opened.say("look")
        assert (finished.reason, len(opened.client.requests)) == ("budget", 1)
        assert "of the $0.5 that --max-budget-usd allows" in finished.text


async def test_a_model_that_the_session_changes_to_needs_a_price_too(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("hi"), settings=PRICED, options=Options(max_budget=9e9)) as opened:
        assert (await opened.say("hello")).reason != "budget"
        opened.agent.set_model("another")
        finished = await opened.say("hello")
        assert finished.reason == "budget"
        assert "another" in finished.text
        assert len(opened.client.requests) == 1


def test_the_command_line_ends_with_code_2_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    monkeypatch.delenv("MCODE_CONFIG_DIR", raising=False)
    addressed = ["--base-url", "http://127.0.0.1:9", "--model", "unpriced", "--max-budget-usd", "0.5"]
    assert run(["-p", "hi", *addressed]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert '{"unpriced": {"input": 3' in told.err
    assert not list(tmp_path.glob(".mcode/projects/*/*.jsonl"))


@pytest.mark.parametrize("amount", ["0", "-1", "nan"])
def test_a_budget_of_nothing_is_refused(capfd: pytest.CaptureFixture[str], amount: str) -> None:
    assert run(["-p", "hi", f"--max-budget-usd={amount}"]) == 2
    assert "takes dollars above 0" in capfd.readouterr().err
