"""Where the key is looked for, and what is said about it."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from mcode.config.key import find_credential
from mcode.config.key_commands import NoKeyError, ask_helper
from mcode.config.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.settings import Problem
    from tests.config.conftest import World

KEY = "test-" + "key-" + "0123456789abcdef"
PATH = {"PATH": os.environ["PATH"]}
WITHOUT_KEYRING = pytest.mark.usefixtures("no_keyring")


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not there, as far as Python can tell."""
    monkeypatch.setitem(sys.modules, "keyring", None)


def helper(world: World, command: str) -> Settings:
    world.write("home/.mcode/settings.json", {"apiKeyHelper": command})
    return world.load()


def said(problems: tuple[Problem, ...]) -> str:
    return "\n".join(problem.message for problem in problems)


async def test_the_key_in_the_environment_comes_first(world: World) -> None:
    settings = helper(world, "touch asked; echo other")
    search = await find_credential(
        {**PATH, "ANTHROPIC_API_KEY": f" {KEY}\n", "ANTHROPIC_AUTH_TOKEN": "x"}, settings
    )
    assert search.credential is not None
    assert (search.credential.value, search.credential.kind) == (KEY, "key")
    assert search.credential.source == "ANTHROPIC_API_KEY in the environment"
    assert search.looked_at == (("ANTHROPIC_API_KEY in the environment", "found"),)


async def test_then_the_token_in_the_environment() -> None:
    search = await find_credential(
        {**PATH, "ANTHROPIC_API_KEY": " ", "ANTHROPIC_AUTH_TOKEN": KEY}, Settings()
    )
    assert search.credential is not None
    assert search.credential.kind == "token"
    assert search.looked_at[0] == ("ANTHROPIC_API_KEY in the environment", "not set")


async def test_a_key_in_the_env_of_the_users_settings_is_named_as_such(world: World) -> None:
    world.write("home/.claude/settings.json", {"env": {"ANTHROPIC_AUTH_TOKEN": KEY}})
    settings = world.load()
    search = await find_credential({**PATH, **settings.own_env}, settings)
    assert search.credential is not None
    assert search.credential.source == "ANTHROPIC_AUTH_TOKEN in the settings"


async def test_then_the_users_helper(world: World) -> None:
    settings = helper(world, f"echo; echo '  {KEY}  '")
    search = await find_credential(PATH, settings)
    assert search.credential is not None
    assert (search.credential.value, search.credential.kind) == (KEY, "key")
    assert search.credential.source == f"apiKeyHelper in {world.places.settings_file}"
    assert search.problems == ()


@WITHOUT_KEYRING
async def test_without_any_key_the_places_are_listed_for_the_first_screen() -> None:
    search = await find_credential(PATH, Settings())
    assert search.credential is None
    assert search.looked_at == (
        ("ANTHROPIC_API_KEY in the environment", "not set"),
        ("ANTHROPIC_AUTH_TOKEN in the environment", "not set"),
        ("apiKeyHelper in ~/.mcode/settings.json", "not set"),
        ("the system keyring", "no entry for mcode"),
    )
    assert search.problems == ()


@pytest.mark.parametrize("trusted", [True, False])
async def test_k_03_a_projects_helper_is_never_asked(world: World, *, trusted: bool) -> None:
    for name in ("settings.json", "settings.local.json"):
        world.write(f"home/src/app/.mcode/{name}", {"apiKeyHelper": f"touch {world.root}/PWN; echo {KEY}"})
    search = await find_credential(PATH, world.load(trusted=trusted))
    assert search.credential is None
    assert not (world.root / "PWN").exists()


async def test_k_03_the_helper_does_not_see_the_model_keys(world: World) -> None:
    settings = helper(world, 'echo "[$ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN]"')
    environment = {**PATH, "ANTHROPIC_API_KEY": "not a key", "ANTHROPIC_AUTH_TOKEN": "not one either"}
    search = await find_credential(environment, settings)
    assert search.credential is not None
    assert search.credential.value == "[]"
    assert "ANTHROPIC_API_KEY in the environment: gave no key: its value has blanks" in said(search.problems)


async def test_w_01_the_folder_does_not_decide_what_the_helper_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("home/src/app/pass", f"#!/bin/sh\ntouch {world.root}/PWN\n").chmod(0o755)
    monkeypatch.chdir(world.project)
    for command in ("./pass", "pass"):
        search = await find_credential({"PATH": f".::{os.environ['PATH']}"}, helper(world, command))
        assert search.credential is None
    assert not (world.root / "PWN").exists()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 3", "the command ended with exit code 3"),
        ("echo 'vault is sealed' >&2; exit 1", "exit code 1: vault is sealed"),
        ("kill -9 $$", "the command ended with signal SIGKILL"),
        ("true", "what the command printed is empty"),
        ("echo a; echo b", "what the command printed has more than one line"),
        ("echo a b", "what the command printed has blanks or characters that no key has"),
        ("printf 'caf\\351'", "blanks or characters that no key has"),
        ("no-such-program-anywhere", "the command ended with exit code 127"),
    ],
)
async def test_a_helper_that_fails_is_named_with_its_file(world: World, command: str, why: str) -> None:
    search = await find_credential(PATH, helper(world, command))
    assert search.credential is None
    (problem,) = search.problems
    assert problem.path == world.places.settings_file
    assert (problem.key, problem.severity) == ("apiKeyHelper", "error")
    assert problem.text.startswith("gave no key: ")
    assert why in problem.text
    assert search.looked_at[2][1].startswith("failed: ")


async def test_what_a_failed_helper_says_is_masked(world: World) -> None:
    secret = "sk-" + "ant-" + "abcdefgh0123456789abcdefgh"
    search = await find_credential(PATH, helper(world, f"echo 'bad key {secret}' >&2; exit 1"))
    assert "bad key" in said(search.problems)
    assert secret not in said(search.problems)
    assert secret not in str(search.looked_at)


async def test_a_helper_that_hangs_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = f"sleep 60 & echo $! > {shlex.quote(str(pid))}; sleep 60"
    with pytest.raises(NoKeyError, match=r"the command was ended after 0\.5 seconds"):
        await ask_helper(command, PATH, limit=0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_a_credential_does_not_show_its_value() -> None:
    search = await find_credential({**PATH, "ANTHROPIC_API_KEY": KEY}, Settings())
    assert KEY not in repr(search)


BACK_END = """
from keyring.backend import KeyringBackend

class Here(KeyringBackend):
    priority = 9
    def get_password(self, service, username):
        return {answer}
    def set_password(self, service, username, password):
        raise NotImplementedError
"""


@pytest.mark.skipif(importlib.util.find_spec("keyring") is None, reason="keyring is not installed")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("KEY if (service, username) == ('mcode', 'api-key') else None", "found"),
        ("None", "no entry for mcode"),
        ("1 / 0", "failed: the command ended with exit code 1: ZeroDivisionError: division by zero"),
        ("'a b'", "failed: its entry has blanks or characters that no key has"),
    ],
)
async def test_the_keyring_comes_last(tmp_path: Path, answer: str, expected: str) -> None:
    (tmp_path / "here_keyring.py").write_text(BACK_END.format(answer=answer.replace("KEY", repr(KEY))))
    environment = {
        **PATH,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path[1:]]),
        "PYTHON_KEYRING_BACKEND": "here_keyring.Here",
        "HOME": str(tmp_path),
    }
    search = await find_credential(environment, Settings())
    assert search.looked_at[-1] == ("the system keyring", expected)
    assert (search.credential is not None) == (expected == "found")
