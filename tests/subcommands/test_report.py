"""`mcode report`: the ledger of a session from its file, as text, JSON and a page, and /context in the session."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest

from mcode.cli import run
from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.model.script.values import reply, script_of, use
from mcode.ui.headless import HeadlessFrontEnd
from tests.stage import stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcode.commands.registry import CommandResult
    from mcode.jsontext import JsonObject
    from tests.stage import Stage

SCRIPT = script_of(
    use(
        "run_code",
        {
            "code": "const r = await must(tools.Grep({pattern: 'line', output_mode: 'content'})); return r.length"
        },
    ),
    reply("counted"),
)


async def session(directory: Path) -> tuple[str, CommandResult, CommandResult]:
    """One session with a program; its id, and what /context and /context session say."""
    project = directory / "project"
    project.mkdir(parents=True)
    (project / "notes.txt").write_text("a line of text that is not so short after all\n" * 200)
    async with stage(directory, SCRIPT) as here:
        await here.say("count the lines")
        return here.agent.session.id, await command(here, "/context"), await command(here, "/context session")


async def command(here: Stage, line: str) -> CommandResult:
    registry = standard_registry()
    return await registry.run(line, CommandContext(here.agent, here.bench.surroundings(), registry))


Report = Callable[..., tuple[int, str, str]]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Report:
    """Runs `mcode report` in the project: exit code, standard output, standard error."""

    def run_there(*arguments: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            patch.setenv("HOME", str(tmp_path / "home"))
            patch.delenv("MCODE_CONFIG_DIR", raising=False)
            patch.chdir(tmp_path / "project")
            capfd.readouterr()
            code = run(["report", *arguments])
        said = capfd.readouterr()
        return code, said.out, said.err

    return run_there


async def test_text_json_page_and_session_read_the_same_ledger(tmp_path: Path, report: Report) -> None:
    identifier, short, whole = await session(tmp_path)
    code, out, err = report("--json", "--html", "page.html")
    assert code == 0, err
    ledger = json.loads(out)
    assert ledger == whole.data
    page = (tmp_path / "project" / "page.html").read_text("utf-8")
    assert json.loads(page.split('id="ledger">')[1].split("</script>")[0]) == ledger
    (program,) = ledger["savings"]["programs"]
    assert program["calls"] == 1
    assert program["kept_out"] > 1_000
    assert cast("JsonObject", short.data)["session"] == ledger
    assert "kept" in short.text
    _, text, _ = report(identifier[:8])
    assert text.strip() == whole.text.strip()
    assert "2 round trips" in text
    assert "run_code" in text


class Told:
    """Where a headless run's words go."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def answer(self, text: str) -> None:
        self.lines.append(text)

    remark = answer


async def test_context_cost_headless_results_and_report_agree(tmp_path: Path, report: Report) -> None:
    """After a resume, and with a price: all of them speak of the whole session."""
    price = {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}
    settings = {"mcode": {"prices": {"scripted-1": price}}}
    async with stage(tmp_path, SCRIPT, settings=settings) as here:
        await here.say("count the lines")
        identifier = here.agent.session.id
    again = stage(
        tmp_path, script_of(reply("again")), settings=settings, source="resume", reference=identifier
    )
    async with again as here:
        output = Told()
        front_end = HeadlessFrontEnd(here.agent, output, output_format="json")

        async def messages() -> AsyncIterator[str]:
            yield "once more"

        await front_end.run(messages())
        context, cost = await command(here, "/context"), await command(here, "/cost")
    reported = json.loads(report(identifier, "--json")[1])
    assert reported["totals"]["round_trips"] == 3
    assert json.loads(output.lines[-1])["mcode"]["ledger"] == reported
    assert cast("JsonObject", context.data)["session"] == reported
    told = dict(cast("JsonObject", cost.data))
    del told["seconds_waited"]
    assert told == reported["totals"]
    assert told["cost"] > 0
    last = cast("JsonObject", context.data)["request"]
    assert last["used"] == reported["requests"][-1]["input"]


def test_a_folder_without_sessions_and_a_wrong_word_are_told(tmp_path: Path, report: Report) -> None:
    (tmp_path / "project").mkdir()
    code, _, err = report()
    assert code == 2
    assert "no session" in err
    assert report("--nonsense")[0] == 2
