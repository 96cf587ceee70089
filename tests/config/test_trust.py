"""The store of the user's approvals: for one content, in one folder, in the user's directory."""

from __future__ import annotations

import json
import shutil
import stat
from typing import TYPE_CHECKING

import pytest

from mcode.config.trust import Item, TrustStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import World


def server(folder: Path, digest: str = "d1", **facts: str) -> Item:
    return Item("mcp-server", "files", digest, folder, facts)


def stored(world: World) -> dict[str, object]:
    return json.loads((world.places.state / "trust.json").read_text())


def test_nothing_is_approved_before_the_user_says_so(world: World) -> None:
    trust = TrustStore(world.places)
    item = server(world.project)
    assert not trust.is_approved(item)
    assert not trust.is_refused(item)
    assert trust.earlier(item) is None
    assert trust.difference(item) == ()
    assert not world.places.state.exists()


def test_w_03_an_answer_is_for_one_content_and_is_kept_for_later_starts(world: World) -> None:
    item = server(world.project)
    assert TrustStore(world.places).approve(item) == ""
    later = TrustStore(world.places)
    assert later.is_approved(item)
    assert not later.is_approved(server(world.project, "d2"))
    assert not later.is_approved(Item("hook", "files", "d1", world.project))
    assert stat.S_IMODE((world.places.state / "trust.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(world.places.state.stat().st_mode) == 0o700


def test_w_03_what_has_changed_since_the_answer_is_shown(world: World) -> None:
    TrustStore(world.places).approve(server(world.project, command="npx", A="1", gone="x"))
    lines = TrustStore(world.places).difference(server(world.project, "d2", command="sh", A="1", new="y"))
    assert lines == ("- command: npx", "+ command: sh", "- gone: x", "+ new: y")


def test_a_refusal_is_kept_and_the_last_answer_counts(world: World) -> None:
    trust = TrustStore(world.places)
    item = server(world.project)
    trust.refuse(item)
    assert TrustStore(world.places).is_refused(item)
    assert not TrustStore(world.places).is_refused(server(world.project, "d2"))
    trust.approve(item)
    assert TrustStore(world.places).is_approved(item)
    assert not TrustStore(world.places).is_refused(item)


def test_w_03_trust_of_a_folder_does_not_reach_into_one_beneath(world: World) -> None:
    TrustStore(world.places).approve(server(world.project))
    assert not TrustStore(world.places).is_approved(server(world.project / "vendored"))


def test_w_03_a_folder_made_anew_under_the_same_path_is_a_new_one(world: World) -> None:
    TrustStore(world.places).approve(server(world.project))
    aside = world.project.with_name("aside")
    shutil.move(world.project, aside)
    world.project.mkdir()
    assert not TrustStore(world.places).is_approved(server(world.project))
    assert not TrustStore(world.places).is_approved(server(aside))


@pytest.mark.parametrize("where", ["home", "root"])
def test_w_03_home_and_root_are_trusted_for_the_session_only(world: World, where: str) -> None:
    folder = {"home": world.places.home, "root": world.root.parents[-1]}[where]
    trust = TrustStore(world.places)
    assert "counts for this session" in trust.approve(server(folder))
    assert trust.is_approved(server(folder))
    assert not TrustStore(world.places).is_approved(server(folder))


def test_w_02_trust_of_a_run_covers_what_lies_in_the_folder_but_no_refusal_and_nothing_else(
    world: World,
) -> None:
    refused = Item("mcp-server", "refused", "d1", world.project)
    TrustStore(world.places).refuse(refused)
    trust = TrustStore(world.places, run=world.project)
    assert trust.is_approved(server(world.project))
    assert trust.is_approved(server(world.project / "a"))
    assert not trust.is_approved(server(world.project.parent))
    assert not trust.is_approved(refused)
    assert "files" not in json.dumps(stored(world))


def test_answers_of_a_folder_can_be_forgotten(world: World) -> None:
    trust = TrustStore(world.places)
    trust.approve(server(world.project))
    trust.approve(Item("hook", "start", "d1", world.project))
    assert trust.forget(world.project, "mcp-server") == 1
    assert trust.forget(world.project, "mcp-server") == 0
    later = TrustStore(world.places)
    assert not trust.is_approved(server(world.project))
    assert not later.is_approved(server(world.project))
    assert later.is_approved(Item("hook", "start", "d1", world.project))


def test_two_sessions_do_not_lose_each_others_answers(world: World) -> None:
    one, two = TrustStore(world.places), TrustStore(world.places)
    assert not one.is_approved(server(world.project))
    assert not two.is_approved(server(world.project))
    other = Item("mcp-server", "other", "d9", world.project)
    one.approve(server(world.project))
    two.approve(other)
    later = TrustStore(world.places)
    assert later.is_approved(server(world.project))
    assert later.is_approved(other)


@pytest.mark.parametrize("content", ["{", "[]", "\xff", '{"folders": 3}', '{"folders": {"PROJECT": []}}'])
def test_a_damaged_store_approves_nothing_and_is_kept_aside_by_the_next_answer(
    world: World, content: str
) -> None:
    path = world.write("home/.mcode/trust.json", "")
    path.write_bytes(content.replace("PROJECT", str(world.project)).encode("latin-1"))
    trust = TrustStore(world.places)
    assert not trust.is_approved(server(world.project))
    notice = trust.approve(server(world.project))
    assert TrustStore(world.places).is_approved(server(world.project))
    if trust.fault:
        assert "nothing in it counts as approved" in trust.fault
        assert "is kept as trust.json.bad-" in notice


def test_fields_that_a_later_version_writes_stay(world: World) -> None:
    world.write(
        "home/.mcode/trust.json", {"later": 1, "folders": {"/other": {"folder": 1, "items": {"x": {}}}}}
    )
    TrustStore(world.places).approve(server(world.project))
    content = stored(world)
    assert content["later"] == 1
    assert "/other" in json.dumps(content["folders"])
