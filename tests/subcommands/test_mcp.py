"""`mcode mcp`: servers are added, listed, shown, removed, tested and signed in at, without a session."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.cli import run
from mcode.mcp.server_writing import ServerShelf
from tests.e2e.binary import Machine
from tests.mcp.http_server import Faulty, serving
from tests.mcp.oauth_server import OAuthServer, visit
from tests.mcp.server_world import ServerWorld
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = Path(__file__).parents[1] / "mcp" / "hostile_server.py"


@dataclass
class Shell:
    """A shell in the project of a world; mcode runs in this process."""

    world: ServerWorld
    capture: pytest.CaptureFixture[str]
    code: int = 0
    out: str = ""
    err: str = ""

    def mcp(self, *arguments: str) -> str:
        """Run `mcode mcp ARGUMENTS`; returns standard output."""
        self.code = run(["mcp", *arguments])
        self.out, self.err = self.capture.readouterr()
        return self.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.mcp(*arguments))

    @property
    def own(self) -> dict[str, Any]:
        return json.loads((self.world.places.state / "mcp.json").read_text())

    @property
    def project_file(self) -> Path:
        return self.world.project / ".mcp.json"


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    world = ServerWorld.fresh(tmp_path)
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "MCODE_", "CLAUDE_")):
            monkeypatch.delenv(name)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.chdir(world.project)
    yield Shell(world, capsys)
    assert not (world.home / ".claude").exists(), "nothing is ever written there"
    assert not (world.project / ".claude").exists()


def test_a_program_is_added_for_the_user_in_this_project(shell: Shell) -> None:
    said = shell.mcp(
        "add", "files", "-e", "DEPTH=3", "-e", "TEXT=a=b", "--", "npx", "-y", "server", "--", "."
    )
    assert said == f'Added the server "files" (stdio) in local scope: {shell.world.places.state}/mcp.json\n'
    assert shell.code == 0
    assert shell.own == {
        "projects": {
            str(shell.world.project): {
                "mcpServers": {
                    "files": {
                        "type": "stdio",
                        "command": "npx",
                        "args": ["-y", "server", "--", "."],
                        "env": {"DEPTH": "3", "TEXT": "a=b"},
                    }
                }
            }
        }
    }
    assert stat.S_IMODE((shell.world.places.state / "mcp.json").stat().st_mode) == 0o600


def test_an_address_is_added_for_the_user_everywhere(shell: Shell) -> None:
    address = "https://tools.example/mcp"
    shell.mcp("add", "-s", "user", "--transport", "sse", "web", address, "--header", "X-Team: a: b")
    assert shell.own == {
        "mcpServers": {"web": {"type": "sse", "url": address, "headers": {"X-Team": "a: b"}}}
    }
    shell.mcp("add", "plain", address)
    assert shell.json("get", "plain", "--json")["type"] == "http"


def test_a_server_is_added_to_the_project_and_counts_as_approved_and_leaves_no_litter(shell: Shell) -> None:
    token = "ghp_" + "a1B2" * 9
    shell.mcp("add", "time", "-s", "project", "-e", f"API_TOKEN={token}", "--", "uvx", "time")
    assert "API_TOKEN: everybody who has this folder can read the value" in shell.err
    assert json.loads(shell.project_file.read_text())["mcpServers"]["time"]["command"] == "uvx"
    assert [path.name for path in shell.world.project.iterdir()] == [".mcp.json"]
    (listed,) = shell.json("list", "--json")
    assert (listed["scope"], listed["state"]) == ("project", "ready")
    assert token not in shell.out


def test_an_entry_is_added_as_json(shell: Shell) -> None:
    shell.mcp("add-json", "-s", "user", "a", '{"command": "server", "timeout": 90000, "later": 1}')
    assert shell.own["mcpServers"]["a"] == {"command": "server", "timeout": 90000, "later": 1}
    assert "later: mcode does not know this field" in shell.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["add"], "the following arguments are required: NAME"),
        (["add", "a"], "The command is missing"),
        (["add", "a", "npx", "-y"], "A server's own options stand behind --"),
        (["add", "a b", "--", "x"], "a name has 1 to 64 letters"),
        (["add", "a", "-t", "ws", "wss://x.example"], "invalid choice: 'ws'"),
        (["add", "a", "-t", "http", "ftp://x.example"], "no address that begins with https://"),
        (["add", "a", "-t", "http"], "takes one address, got 0"),
        (["add", "a", "-e", "NOVALUE", "--", "x"], "-e takes NAME=VALUE"),
        (["add", "a", "-H", "A: b", "--", "x"], "-H goes with -t http"),
        (["add", "a", "-t", "http", "-e", "A=b", "https://x.example"], "-e goes with a command"),
        (["add", "a", "-t", "http", "-H", "A b", "https://x.example"], "-H takes 'NAME: VALUE'"),
        (["add", "a", "-s", "everywhere", "--", "x"], "invalid choice: 'everywhere'"),
        (["add-json", "a", "{"], "The entry is not a JSON object"),
        (["add-json", "a", "[]"], "expected an object"),
        (["add-json", "a", '{"args": []}'], '"command" is missing'),
        (["list", "--", "x"], "-- goes with `mcode mcp add`"),
        (["get", "nobody"], 'There is no server "nobody" here; there are: none'),
        (["remove", "nobody"], 'mcode has no server "nobody"; nothing was removed.'),
        (["approve", "nobody"], 'There is no server "nobody"'),
        (["logout", "nobody"], 'There is no server "nobody"'),
        (["frobnicate"], "There is no `mcode mcp frobnicate`"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_changes_nothing(
    shell: Shell, arguments: list[str], why: str
) -> None:
    assert shell.mcp(*arguments) == ""
    assert shell.code == 2
    assert why in shell.err
    assert len(shell.err.splitlines()) == 1
    assert not (shell.world.places.state / "mcp.json").exists()
    assert not shell.project_file.exists()


def test_a_name_that_is_taken_in_its_scope_is_kept(shell: Shell) -> None:
    shell.mcp("add", "a", "--", "one")
    shell.mcp("add", "a", "--", "two")
    assert shell.code == 2
    assert "`mcode mcp remove a -s local` takes it out first" in shell.err
    assert shell.json("get", "a", "--json")["entry"]["command"] == "one"
    shell.mcp("add", "a", "-s", "user", "--", "three")
    assert shell.code == 0
    assert "stands over" in shell.mcp("get", "a")


def test_a_server_is_removed_from_the_one_scope_that_has_it(shell: Shell) -> None:
    shell.mcp("add", "a", "--", "one")
    shell.mcp("add", "a", "-s", "project", "--", "two")
    shell.mcp("remove", "a")
    assert "stands in local and project scope. Nothing was removed" in shell.err
    assert "from" in shell.mcp("remove", "a", "-s", "local")
    assert shell.own == {"projects": {}}
    shell.mcp("remove", "a")
    assert json.loads(shell.project_file.read_text()) == {"mcpServers": {}}


def test_a_server_in_another_agents_file_is_named_and_left_alone(shell: Shell) -> None:
    path = shell.world.claude(mcpServers={"theirs": {"command": "x"}})
    before = path.read_bytes()
    shell.mcp("remove", "theirs")
    assert f"It stands in {path}, which mcode does not write" in shell.err
    assert path.read_bytes() == before


def test_what_else_a_project_file_holds_stays(shell: Shell) -> None:
    shell.world.write(
        "home/src/app/.mcp.json", {"note": "日本", "mcpServers": {"bad": 3, "kept": {"command": "x"}}}
    )
    shell.project_file.chmod(0o664)
    shell.mcp("add", "new", "-s", "project", "--", "y")
    shell.mcp("remove", "bad", "-s", "project")
    content = json.loads(shell.project_file.read_text())
    assert content["note"] == "日本"
    assert set(content["mcpServers"]) == {"kept", "new"}
    assert stat.S_IMODE(shell.project_file.stat().st_mode) == 0o664


@pytest.mark.parametrize("content", ["{", '{"mcpServers": []}', '{"a": 1, "a": 2}'])
def test_a_project_file_that_cannot_be_read_is_not_written(shell: Shell, content: str) -> None:
    shell.world.write("home/src/app/.mcp.json", content)
    shell.mcp("add", "a", "-s", "project", "--", "x")
    assert shell.code == 1
    assert "was not changed" in shell.err
    assert shell.project_file.read_text() == content


def test_a_project_file_that_is_a_link_is_not_written(shell: Shell) -> None:
    target = shell.world.write("home/elsewhere.json", {})
    shell.project_file.symlink_to(target)
    shell.mcp("add", "a", "-s", "project", "--", "x")
    assert "it is a link" in shell.err
    assert target.read_text() == "{}"


def test_in_a_checkout_servers_are_kept_at_its_top(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    git = shell.world.project / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    deep = shell.world.project / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    shell.mcp("add", "a", "-s", "project", "--", "x")
    assert shell.project_file.exists()
    shell.mcp("add", "b", "--", "x")
    assert list(shell.own["projects"]) == [str(shell.world.project)]
    assert {one["name"] for one in shell.json("list", "--json")} == {"a", "b"}


def test_many_at_once_lose_nothing(shell: Shell) -> None:
    def add(number: int, scope: Any) -> None:
        shelf = ServerShelf(scope, shell.world.places, shell.world.project)
        shelf.add(f"server-{number}", {"command": "x"})

    threads = [
        threading.Thread(target=add, args=(n, scope)) for n in range(8) for scope in ("user", "project")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shell.own["mcpServers"]) == 8
    assert len(json.loads(shell.project_file.read_text())["mcpServers"]) == 8


def test_the_list_shows_what_may_run_and_names_bad_files(shell: Shell) -> None:
    assert "There are no servers here" in shell.mcp("list")
    shell.world.project_servers(theirs={"command": "npx", "args": ["-y", "x"]})
    shell.world.user_servers(mine={"command": "server"}, off={"command": "x", "disabled": True}, bad=3)
    lines = shell.mcp("list").splitlines()
    assert lines[0].split() == ["NAME", "SCOPE", "TYPE", "STATE", "RUNS", "OR", "CONTACTS"]
    assert [line.split()[0] for line in lines[1:]] == ["mine", "off", "theirs"]
    assert "not tried yet" in lines[1]
    assert 'off: "disabled" is true in' in lines[2]
    assert "needs approval (new)" in lines[3]
    assert "npx -y x" in lines[3]
    assert "expected an object, got the number 3" in shell.err
    assert [one["state"] for one in shell.json("list", "--json")] == ["ready", "disabled", "needs approval"]


def test_a_projects_server_is_approved_refused_and_asked_about_anew(shell: Shell) -> None:
    shell.world.project_servers(theirs={"command": "npx", "args": ["-y", "x"]})
    shell.mcp("test", "theirs")
    assert shell.code == 2
    assert "is not approved: npx -y x. It was not started" in shell.err
    said = shell.mcp("approve", "theirs")
    assert "may run here" in said
    assert "npx -y x" in said
    assert shell.json("get", "theirs", "--json")["state"] == "ready"
    assert "stays off here" in shell.mcp("refuse", "theirs")
    assert shell.json("get", "theirs", "--json")["state"] == "disabled"
    assert "Forgot 1 answer" in shell.mcp("reset-project-choices")
    assert shell.json("get", "theirs", "--json")["state"] == "needs approval"
    shell.world.user_servers(mine={"command": "x"})
    shell.mcp("approve", "mine")
    assert "your own server (user scope), which needs no approval" in shell.err


def test_a_good_server_is_tested(shell: Shell) -> None:
    shell.world.user_servers(good={"command": sys.executable, "args": [str(HOSTILE), "none"]})
    found = shell.json("test", "good", "--json")
    assert shell.code == 0
    assert found["state"] == "connected"
    assert found["tokens"] == sum(tool["tokens"] for tool in found["tools"]) > 0
    assert "connected just now, 3 tools" in shell.mcp("list")
    assert (shell.json("get", "good", "--json")["state"], shell.err) == ("ready", "")


def test_a_bad_server_is_tested_and_says_why(shell: Shell) -> None:
    shell.world.user_servers(bad={"command": "no-such-program-here"})
    said = shell.mcp("test", "bad")
    assert shell.code == 1
    assert "bad: failed after" in said
    assert "there is no program no-such-program-here" in said
    assert shell.json("test", "bad", "--json")["state"] == "failed"
    assert "failed just now" in shell.mcp("list")
    assert "bad: there is no program no-such-program-here. `mcode mcp test bad` tries it again." in shell.err
    (listed,) = shell.json("list", "--json")
    assert (listed["state"], listed["last"]["state"]) == ("failed", "failed")
    assert "there is no program" in shell.mcp("get", "bad")


async def test_a_remote_server_is_tested_and_one_that_wants_a_sign_in_says_so(shell: Shell) -> None:
    async with serving(Faulty()) as good, serving(Faulty("every-denied")) as closed:
        shell.world.user_servers(good={"url": f"{good.url}/mcp"}, closed={"url": f"{closed.url}/mcp"})
        found = await asyncio.to_thread(shell.json, "test", "good", "--json")
        assert [tool["name"] for tool in found["tools"]] == ["echo"]
        assert "DELETE" in [asked.method for asked in good.asked]
        said = await asyncio.to_thread(shell.mcp, "test", "closed")
        assert shell.code == 1
        assert "closed: needs sign-in after" in said
        assert "`mcode mcp login closed` signs you in" in said
    shell.mcp("logout", "good")
    assert "not signed in at good" in shell.err


async def test_the_user_signs_in_and_out_from_the_shell(shell: Shell) -> None:
    oauth = OAuthServer()
    async with serving(oauth) as server:
        oauth.server = server
        shell.world.user_servers(closed={"url": f"{server.url}/mcp"})
        signing_in = asyncio.ensure_future(asyncio.to_thread(run, ["mcp", "login", "closed"]))
        shown: list[str] = []

        def told() -> bool:
            shown.append(shell.capture.readouterr().out)
            return "code_challenge" in "".join(shown)

        await until(told, "the address to sign in at")
        await visit(oauth.authorize("".join(shown).split("\n")[1]))
        assert await signing_in == 0
        assert "You are signed in at closed." in shell.capture.readouterr().out
        found = await asyncio.to_thread(shell.json, "test", "closed", "--json")
        assert found["state"] == "connected"
        assert "you are signed in" in shell.mcp("get", "closed")
        assert "is forgotten here" in shell.mcp("logout", "closed")
        assert "signed in" not in shell.mcp("get", "closed")


def test_the_real_program_adds_and_tests_a_server(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    assert machine.run("mcp", "add", "good", "--", sys.executable, str(HOSTILE), "none").code == 0
    ran = machine.run("mcp", "test", "good")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("good")
    assert "tokens of definitions" in ran.out


def test_the_list_imports_nothing_slow(tmp_path: Path) -> None:
    program = (
        "import sys, json\n"
        "from mcode.cli import run\n"
        "run(['mcp', 'list'])\n"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))\n"
    )
    machine = Machine.fresh(tmp_path)
    command = [sys.executable, "-c", program]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=machine.project, env=machine.environment
    )
    assert not set(json.loads(ran.stderr)) & {"mcp", "mcp_types", "httpx2", "pydantic", "anthropic"}


def test_help_names_every_word(shell: Shell) -> None:
    said = shell.mcp("--help")
    assert shell.code == 0
    for word in (
        "add ",
        "add-json",
        "list",
        "get",
        "remove",
        "test",
        "approve",
        "reset-project-choices",
        "login",
    ):
        assert word in said
    shell.mcp()
    assert shell.code == 2
