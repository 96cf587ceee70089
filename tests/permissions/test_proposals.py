"""What a question offers to remember, and what it means once it is remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcode.permissions.modes import Mode
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from tests.permissions.conftest import House


def offered(house: House, call: str, *rules: str, mode: Mode = Mode.DEFAULT) -> dict[str, str]:
    """Destination to rule."""
    verdict = house.decide(rules, call, mode=mode)
    assert verdict.behavior is Behavior.ASK
    return {proposal.destination: proposal.rule for proposal in verdict.proposals}


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q tests",
        "npm run build",
        "git add src",
        "git commit -m 'a (b) c'",
        "ruff check --fix src",
        "tree",
    ],
)
def test_p_14_a_plain_command_is_offered_exactly_as_it_stands(house: House, line: str) -> None:
    assert offered(house, f"Bash({line})") == dict.fromkeys(("session", "local"), f"Bash({line})")


@pytest.mark.parametrize(
    "line",
    [
        "env x",
        "sudo ls",
        "xargs ls",
        "find . -exec ls ;",
        "bash x.sh",
        "/bin/sh x",
        "python a.py",
        "python3.11 a.py",
        "node a.js",
        "make test",
        "npx jest",
        "docker ps",
        "ssh host ls",
        "eval ls",
        "source x",
        ". x",
        "timeout 5 ls",
        "watch ls",
        "rm x",
        "mv a b",
        "chmod +x a",
        "git push",
        "git -C x add y",
        "git reset --hard",
        "kill 1",
        "tree && python a.py",
        "tree | xargs ls",
        "ls > out",
        "tree *",
        "echo $X",
        'echo "$X"',
        "A=1 ls",
        "a; b; c; d; e; f",
        "ls ~",
        "mkfs.ext4 /dev/x",
        "tree  -l",
        "tree 'a * b'",
        f"tree {'x' * 400}",
    ],
)
def test_p_14_nothing_is_offered_for_lines_whose_words_do_not_show_what_they_do(
    house: House, line: str
) -> None:
    assert offered(house, f"Bash({line})") == {}


def test_p_14_an_offer_allows_what_it_says_and_no_more(house: House) -> None:
    policy = house.policy()
    (session, local) = policy.decide(*house.call("Bash(pytest -q)")).proposals
    assert session.label == "Allow exactly `pytest -q` for this session"
    assert local.label == "Always allow exactly `pytest -q` in this project"
    policy.grant(session.rule)
    assert policy.decide(*house.call("Bash(pytest -q)")).behavior is Behavior.ALLOW
    assert policy.decide(*house.call("Bash(ls && pytest -q)")).behavior is Behavior.ALLOW
    for line in ("pytest -q x", "pytest", "pytest -q; tree", "pytest -q > x", "pytest -q $X"):
        assert policy.decide(*house.call(f"Bash({line})")).behavior is Behavior.ASK


def test_p_14_a_compound_line_is_offered_by_one_rule_for_each_part_that_needs_one(house: House) -> None:
    policy = house.policy("allow Bash(npm *)")
    line = "Bash(cd src && npm ci && ruff check . | tail -3; pytest -q)"
    (session, local) = policy.decide(*house.call(line)).proposals
    assert session.rules == local.rules == ("Bash(ruff check .)", "Bash(pytest -q)")
    assert session.label == "Allow exactly `ruff check .` and `pytest -q` for this session"
    for rule in session.rules:
        policy.grant(rule)
    assert policy.decide(*house.call(line)).behavior is Behavior.ALLOW
    assert policy.decide(*house.call("Bash(pytest -q src)")).behavior is Behavior.ASK


def test_p_14_edits_are_offered_for_the_files_directory_until_the_session_ends(house: House) -> None:
    assert offered(house, "Edit /w/vendor/p/a.py") == {"session": "Edit(/vendor/p/**)"}
    assert offered(house, "Edit /w/a.py") == {"session": "Edit(/*)"}
    assert offered(house, "Edit /h/other/a") == {"session": f"Edit(/{house.home}/other/a)"}
    verdict = house.decide((), "Edit /w/src/a.py")
    assert verdict.proposals[0].label == "Allow edits under src/ for this session"


def test_p_14_the_grant_for_the_top_directory_does_not_reach_into_its_folders(house: House) -> None:
    policy = house.policy()
    policy.grant("Edit(/*)")
    assert policy.decide(*house.call("Write /w/b.py")).behavior is Behavior.ALLOW
    assert policy.decide(*house.call("Write /w/src/b.py")).behavior is Behavior.ASK
    assert policy.decide(*house.call("Write /w/.envrc")).behavior is Behavior.ASK


def test_p_14_a_granted_directory_is_that_of_the_start_and_no_other(house: House) -> None:
    policy = house.policy()
    policy.grant("Edit(/src/**)")
    assert policy.decide(*house.call("Edit /w/src/deep/a.py")).behavior is Behavior.ALLOW
    assert policy.decide(*house.call("Edit /w/vendor/p/src/a.py")).behavior is Behavior.ASK


def test_p_14_nothing_is_offered_through_links_or_for_odd_names(house: House) -> None:
    (house.start / "way").symlink_to("src")
    assert offered(house, "Edit /w/way/a.py") == {}
    for name in ("a*b/x.py", "a[b/x.py", "a(b/x.py", "a\\\\b/x"):
        assert offered(house, f'Edit {{"file_path": "{house.start}/{name}"}}') == {}


def test_p_14_reading_outside_is_offered_for_a_directory_that_is_not_a_crossroads(house: House) -> None:
    assert offered(house, "Read /h/other/a") == {"session": f"Read(/{house.home}/other/**)"}
    assert offered(house, "Read /h/a") == {"session": f"Read(/{house.home}/a)"}
    assert offered(house, "Read /etc/hostname") == {"session": "Read(//etc/hostname)"}
    assert offered(house, 'Grep {"pattern": "x", "path": "/h/other"}') == {
        "session": f"Read(/{house.home}/other/**)"
    }
    assert offered(house, 'Grep {"pattern": "x", "path": "/h"}') == {}
    assert offered(house, 'Grep {"pattern": "x", "path": "/"}') == {}


def test_p_14_a_file_of_secrets_is_offered_alone(house: House) -> None:
    assert offered(house, "Read /w/.env") == {"session": f"Read(/{house.start}/.env)"}
    policy = house.policy()
    policy.grant(f"Read(/{house.start}/.env)")
    assert policy.decide(*house.call("Read /w/.env")).behavior is Behavior.ALLOW
    assert policy.decide(*house.call("Read /w/.env.local")).behavior is Behavior.ASK


def test_p_14_hosts_and_tools_of_servers_by_their_exact_name(house: House) -> None:
    assert (
        offered(house, "WebFetch(https://docs.example.com:8443/x)")["local"]
        == "WebFetch(domain:docs.example.com)"
    )
    assert offered(house, "mcp__gh__get_issue {}") == dict.fromkeys(
        ("session", "local"), "mcp__gh__get_issue"
    )


def test_p_14_each_offer_lets_the_same_call_run_when_it_is_taken(house: House) -> None:
    calls = (
        "Bash(pytest -q)",
        "Edit /w/src/a.py",
        "Edit /w/a.py",
        "Edit /h/other/a",
        "Read /h/other/a",
        "Read /etc/hostname",
        "Read /w/.env",
        "WebFetch(https://example.com/)",
        "mcp__gh__get_issue {}",
        'Grep {"pattern": "x", "path": "/h/other"}',
    )
    for text in calls:
        call = house.call(text)
        proposals = house.policy().decide(*call).proposals
        assert proposals, text
        for proposal in proposals:
            policy = house.policy()
            policy.grant(proposal.rule)
            assert policy.decide(*call).behavior is Behavior.ALLOW, proposal


def test_a_call_that_needs_several_things_offers_nothing(house: House) -> None:
    call, tool, access = house.call("Edit /w/src/a.py")
    both = replace(access, writes=(*access.writes, house.start / "docs/b.md"))
    assert house.policy().decide(call, tool, both).proposals == ()
    assert house.policy("allow Edit(src/**)").decide(call, tool, both).behavior is Behavior.ASK
    assert (
        house.policy("allow Edit(src/**)", "allow Edit(docs/**)").decide(call, tool, both).behavior
        is Behavior.ALLOW
    )


def test_permission_to_edit_includes_reading_the_same_file(house: House) -> None:
    call, tool, access = house.call("Edit /h/other/a")
    both = replace(access, reads=access.writes)
    assert house.policy("allow Edit(~/other/a)").decide(call, tool, both).behavior is Behavior.ALLOW
    elsewhere = replace(access, reads=(house.home / "other/b",))
    assert house.policy("allow Edit(~/other/a)").decide(call, tool, elsewhere).behavior is Behavior.ASK
