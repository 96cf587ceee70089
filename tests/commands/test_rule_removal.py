"""/permissions remove: rules of the session and of the user's own files go; others stay and say where they stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.commands.typing import typed
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path

RULES = {"permissions": {"allow": ["Bash(make *)", "Read(docs/**)"], "deny": ["Bash(curl *)"]}}


async def test_a_rule_of_the_users_file_is_out_of_force_at_once_and_gone_from_it(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x"), settings=RULES) as session:
        assert "allow" in (await typed(session, "/permissions explain Bash(make x)")).text
        result = await typed(session, "/permissions remove allow Bash(make *)")
        assert not result.failed
        assert "Removed: allow Bash(make *)" in result.text
        kept = json.loads(session.bench.places.settings_file.read_text())["permissions"]
        assert kept == {"allow": ["Read(docs/**)"], "deny": ["Bash(curl *)"]}
        explained = await typed(session, "/permissions explain Bash(make x)")
        assert explained.data["behavior"] == "ask"
        listed = (await typed(session, "/permissions")).data["rules"]
        assert [rule["rule"] for rule in listed] == ["Bash(curl *)", "Read(docs/**)"]


async def test_a_rule_of_this_session_goes_too(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        session.agent.policy.grant("Bash(make *)")
        assert not (await typed(session, "/permissions remove allow Bash(make *)")).failed
        assert not session.agent.policy.grants


async def test_a_projects_rule_stays_and_says_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "project" / ".mcode" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"permissions": {"deny": ["Bash(git push *)"]}}))
    async with stage(tmp_path, turns("x")) as session:
        result = await typed(session, "/permissions remove deny Bash(git push *)")
        assert result.failed
        assert str(file) in result.text
        assert "still in force" in result.text
        assert (await typed(session, "/permissions explain Bash(git push)")).data["behavior"] == "deny"
        assert "git push" in file.read_text()


async def test_what_is_no_rule_is_told_and_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x"), settings=RULES) as session:
        for wrong in ("", "allow", "perhaps Bash(make *)", "deny Bash(make *)"):
            result = await typed(session, f"/permissions remove {wrong}")
            assert result.failed
            assert "othing was changed" in result.text
        assert json.loads(session.bench.places.settings_file.read_text()) == RULES
