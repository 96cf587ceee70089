"""Paths on a real file system: inside or outside, protected, secret, and through links."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mcode
from mcode.config.settings import Settings
from mcode.permissions.file_patterns import read_pattern
from mcode.permissions.modes import Mode
from mcode.permissions.paths import PathPolicy
from mcode.permissions.programs import words_of
from mcode.permissions.resolve import locate
from mcode.permissions.secret_names import WIDE_FOLDERS, WIDE_NAMES
from mcode.permissions.verdict import Behavior
from mcode.tool import Workspace

if TYPE_CHECKING:
    from tests.permissions.conftest import House


@pytest.fixture
def app(tmp_path: Path) -> Workspace:
    """Working directory `app` beside `app2`, with a link out of it."""
    root = tmp_path.resolve()
    for name in ("app/sub", "app2"):
        (root / name).mkdir(parents=True)
    (root / "app/link-out").symlink_to(root / "app2")
    (root / "app/link-in").symlink_to("sub")
    return Workspace(root / "app", home=root / "home")


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("app", True),
        ("app/", True),
        ("app/x", True),
        ("app/./sub/../x", True),
        ("app/link-in/x", True),
        ("app/new/deeper/x", True),
        ("app2/x", False),
        ("app/../app2/x", False),
        ("app/link-out/x", False),
        ("app/link-in/../../app2/x", False),
        ("app/new/../../y", False),
        ("app/..", False),
        ("application", False),
    ],
)
def test_f_01_membership_is_by_components_after_links(app: Workspace, path: str, inside: bool) -> None:
    policy = PathPolicy(app)
    assert policy.inside(policy.locate(f"{app.start.parent}/{path}")) is inside


def test_f_01_a_relative_path_is_seen_from_the_current_directory(app: Workspace) -> None:
    policy = PathPolicy(app)
    app.current = app.start / "sub"
    assert policy.locate("../x").resolved == str(app.start / "x")
    assert not policy.inside(policy.locate("../../app2/x"))
    assert policy.locate("x", app.start).resolved == str(app.start / "x")


def test_f_01_dots_after_a_link_mean_the_parent_of_its_target(app: Workspace) -> None:
    place = PathPolicy(app).locate(f"{app.start}/link-out/../app2/x")
    assert place.resolved == str(app.start.parent / "app2/x")
    assert place.spellings[0] == str(app.start / "app2/x")


def test_f_01_every_link_on_the_way_is_a_spelling(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "c").mkdir()
    (root / "b").symlink_to("c")
    (root / "a").symlink_to("b")
    place = locate(str(root / "a/x"), "/")
    assert place.spellings == (f"{root}/a/x", f"{root}/b/x", f"{root}/c/x")


def test_f_01_a_loop_of_links_or_a_nul_is_never_let_through(house: House) -> None:
    (house.start / "loop").symlink_to("loop")
    for mode in (Mode.DEFAULT, Mode.BYPASS):
        verdict = house.decide(("allow Read", "allow Read(**)"), "Read /w/loop/x", mode=mode)
        assert verdict.behavior is Behavior.ASK
        assert "symbolic links" in verdict.reason
    call = house.call("Read /w/a\0b")
    assert house.policy("allow Read").decide(*call).behavior is Behavior.ASK


def test_f_01_a_working_directory_added_later_counts_at_once(house: House) -> None:
    policy = house.policy()
    call = house.call("Read /h/other/a")
    assert policy.decide(*call).behavior is Behavior.ASK
    policy.workspace.additional = (house.home / "other",)
    assert policy.decide(*call).behavior is Behavior.ALLOW


def test_f_02_the_root_by_another_name_of_the_same_directory_is_inside(app: Workspace) -> None:
    """A bind mount or a careless file system shows one directory under two names; a link stands in for it here."""
    alias = app.start.parent / "alias"
    alias.symlink_to(app.start)
    policy = PathPolicy(Workspace(alias, home=app.home))
    assert policy.inside(policy.locate(f"{app.start}/x"))


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".GIT/config",
        "sub/.Git/hooks/pre-commit",
        ".Mcode/settings.json",
        ".mcode/settings.local.json",
        ".claude/settings.json",
        ".BASHRC",
        ".envrc",
        "a/.vscode/tasks.json",
        ".config/git/ignore",
        ".Config/GH/hosts.yml",
        ".mcp.json",
        "x/.pre-commit-config.yaml",
        ".g\u200cit/config",
        ".git",
    ],
)
def test_f_02_f_03_protected_names_are_compared_without_case_and_ask_in_every_mode(
    house: House, path: str
) -> None:
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS):
        for tool in ("Edit", "Write"):
            verdict = house.decide(
                ("allow Edit(**)", "allow Edit", "allow Write"), f"{tool} /w/{path}", mode=mode
            )
            assert (verdict.behavior, verdict.kind) == (Behavior.ASK, "path"), path
            assert verdict.proposals == ()
    assert house.outcome(("allow Edit(**)",), f"Edit /w/{path}", mode=Mode.DONT_ASK) == "deny"
    assert house.outcome(("allow Edit(**)",), f"Edit /w/{path}", mode=Mode.PLAN) == "deny"


def test_f_02_composed_and_decomposed_spellings_are_one_name(house: House) -> None:
    decomposed = unicodedata.normalize("NFD", "geheim-für-uns.txt")
    assert house.outcome(("deny Read(geheim-für-uns.txt)",), f"Read /w/{decomposed}") == "deny"


def test_f_03_neither_a_hook_nor_a_grant_lifts_the_question(house: House) -> None:
    policy = house.policy()
    policy.grant("Edit(/.vscode/**)")
    call = house.call("Edit /w/.vscode/tasks.json")
    assert policy.decide(*call).behavior is Behavior.ASK
    assert policy.decide(*call, hook=Behavior.ALLOW).behavior is Behavior.ASK


def test_f_03_a_harmless_name_that_leads_to_a_protected_one_is_protected(house: House) -> None:
    (house.start / ".git").mkdir()
    (house.start / "innocent").symlink_to(".git")
    assert house.outcome(("allow Edit(**)",), "Edit /w/innocent/config", mode=Mode.ACCEPT_EDITS) == "ask"


def test_f_03_the_state_directory_is_protected_wherever_it_is(house: House) -> None:
    policy = PathPolicy(house.workspace(), own=(house.start / "state",))
    assert policy.protection(policy.locate(f"{house.start}/state/settings.json")) is not None
    assert policy.protection(policy.locate(f"{house.start}/statement.md")) is None


def test_f_03_the_git_directory_that_a_git_file_names_is_protected(house: House) -> None:
    elsewhere = house.root / "store"
    elsewhere.mkdir()
    (elsewhere / "config").write_text("[core]\n\thooksPath = hooks-of-ours\n")
    (house.start / ".git").write_text(f"gitdir: {elsewhere}\n")
    policy = PathPolicy(Workspace(house.start, (elsewhere,), home=house.home))
    assert policy.protection(policy.locate(f"{elsewhere}/config")) is not None
    assert policy.protection(policy.locate(f"{house.start}/hooks-of-ours/pre-commit")) is not None
    assert policy.protection(policy.locate(f"{house.start}/hooks.md")) is None


def test_f_03_a_bare_repository_in_the_workspace_is_protected(house: House) -> None:
    bare = house.start / "mirror"
    for name in ("objects", "refs", "hooks"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    assert house.outcome((), "Write /w/mirror/hooks/post-update", mode=Mode.ACCEPT_EDITS) == "ask"
    assert house.outcome((), "Write /w/mirror.txt", mode=Mode.ACCEPT_EDITS) == "allow"


def test_f_03_files_that_only_look_similar_are_not_protected(house: House) -> None:
    for path in (
        ".gitignore",
        ".github/workflows/ci.yml",
        "git/config",
        "profile",
        ".config/app/x",
        "src/npmrc",
    ):
        assert house.outcome((), f"Write /w/{path}", mode=Mode.ACCEPT_EDITS) == "allow", path


SECRETS = (
    ".env",
    ".env.production",
    "keys/server.pem",
    "id_rsa",
    "id_work",
    ".netrc",
    ".git-credentials",
    ".aws/credentials",
    ".ssh/config",
    ".kube/config",
    ".config/gcloud/access_tokens.db",
    "deploy/service-account-prod.json",
    ".ENV",
    "prod.env",
    ".npmrc",
    "web/.npmrc",
    ".yarnrc.yml",
    ".pypirc",
    "pip.conf",
    "_netrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".dockercfg",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/glab-cli/config.yml",
    ".config/git/credentials",
    ".m2/settings.xml",
    ".gem/credentials",
    ".streamlit/secrets.toml",
    ".claude/.credentials.json",
    ".claude.json",
    "vault.kdbx",
    "AuthKey_1.p8",
    "deploy_rsa",
    "home.ovpn",
    "stack/terraform.tfstate",
    "stack/prod.tfvars",
    "prod.kubeconfig",
    "credentials.json",
    "client_secret_web.json",
    "config/secrets.yml",
    ".dev.vars",
)


EVERYDAY = sorted(
    words_of("""
    id_generator.py environment.py id_rsa.pub pem.py ssh/config package.json config.json auth.json
    locales/en/auth.json src/credentials.py src/secrets.py credentials/store.py .cargo/config.toml
    .docker/Dockerfile
    .gitconfig .editorconfig .yarnrc settings.xml gradle.properties tokens.json npmrc envoy.py variables.tf
    """)
)


@pytest.mark.parametrize("path", SECRETS)
def test_k_04_reading_a_file_of_secrets_asks_though_it_is_in_the_workspace(house: House, path: str) -> None:
    for rules in ((), ("allow Read",), ("allow Read(**)",), ("allow Read(//**)",)):
        verdict = house.decide(rules, f"Read /w/{path}")
        assert verdict.behavior is Behavior.ASK, (rules, path)
        assert "credentials" in verdict.reason


def test_k_04_a_rule_that_names_the_file_lets_it_be_read(house: House) -> None:
    assert house.outcome(("allow Read(.env.example)",), "Read /w/.env.example") == "allow"
    assert house.outcome(("allow Read(.env*)",), "Read /w/.env.test") == "allow"
    assert house.outcome(("allow Read(/keys/*.pem)",), "Read /w/keys/server.pem") == "allow"


def test_k_04_source_files_with_similar_names_are_read(house: House) -> None:
    for path in EVERYDAY:
        assert house.outcome((), f"Read /w/{path}") == "allow", path


def test_k_04_a_directory_is_not_a_secret_by_a_name_that_says_so_of_files(house: House) -> None:
    for name, expected in (("id_tools", "allow"), ("api.key", "allow"), (".envs", "ask"), (".ssh", "ask")):
        (house.start / name).mkdir()
        assert house.outcome((), f'Grep {{"path": "/w/{name}"}}') == expected, name


@pytest.mark.parametrize("path", SECRETS)
def test_k_04_where_not_each_file_is_looked_at_every_secret_is_left_out_by_a_wide_pattern(path: str) -> None:
    folders, _, name = path.rpartition("/")
    by_name = any(fnmatch(name.lower(), pattern.lower()) for pattern in WIDE_NAMES)
    assert by_name or not set(folders.split("/")).isdisjoint(WIDE_FOLDERS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("url = https://github.com/a/b.git", "allow"),
        ("url = https://bob@bitbucket.org/a/b.git", "allow"),
        ("url = ssh://git@host/a", "allow"),
        ("url = https://bob:" + "hunter" * 2 + "@host/a", "ask"),
        ("url = https://" + "gh" + "p_" + "a1B2" * 9 + "@github.com/a", "ask"),
        ("url = https://" + "c0ffee" * 5 + "@host/a", "ask"),
        ("extraheader = AUTHORIZATION: basic " + "eDphYmNk" * 4, "ask"),
    ],
)
def test_k_04_the_configuration_of_git_is_a_secret_where_a_credential_stands_in_it(
    line: str, expected: str, house: House
) -> None:
    (house.start / ".git/modules/x").mkdir(parents=True)
    for path in (".git/config", ".git/modules/x/config"):
        (house.start / path).write_text(f'[remote "origin"]\n\t{line}\n')
        assert house.outcome((), f"Read /w/{path}") == expected
        assert house.outcome((), f"Bash(cat {path})") == expected
        search = house.decide((), f"Bash(grep -r url {path.rpartition('/')[0]})")
        assert ("--exclude=config" in (search.run_as or "")) is (expected == "ask")
    search = house.decide((), "Bash(grep -rn url .)")
    assert ("--exclude-dir=.git" in (search.run_as or "")) is (expected == "ask")
    assert house.outcome(("allow Read(.git/config)",), "Read /w/.git/config") == "allow"


def test_k_04_the_environment_of_a_process_asks_whatever_the_rules_say(house: House) -> None:
    assert house.outcome(("allow Read(//proc/**)",), "Read /proc/1/environ") == "ask"
    assert house.outcome(("allow Read(//proc/**)",), "Read /proc/cpuinfo") == "allow"


def test_f_05_reading_outside_asks_and_names_where_a_link_leads(house: House) -> None:
    assert house.outcome((), "Read /etc/hostname") == "ask"
    (house.start / "out").symlink_to(house.home / "other")
    verdict = house.decide((), "Read /w/out/a")
    assert verdict.behavior is Behavior.ASK
    assert f"{house.home}/other/a" in verdict.reason
    assert house.outcome((), "Read /w/src/new.py") == "allow"


def test_f_05_side_files_of_the_session_are_read_without_asking(house: House) -> None:
    side = house.home / ".mcode/projects/x/session"
    side.mkdir(parents=True)
    house.readable = (side,)
    assert house.decide((), f"Read {side}/output.txt").reason == "a file of this session"
    assert house.outcome((), f"Read {side}-other/output.txt") == "ask"
    assert house.outcome((), f"Edit {side}/output.txt", mode=Mode.BYPASS) == "ask"


@pytest.mark.parametrize("mode", list(Mode))
def test_settings_can_forbid_everything_outside_in_every_mode(house: House, mode: Mode) -> None:
    blocking = replace(Settings(), block_reads_outside=True, block_writes_outside=True)
    rules = ("allow Read(//**)", "allow Edit(//**)")
    policy = house.policy(*rules, mode=mode, settings=blocking)
    for text in ("Read /etc/hostname", "Edit /h/other/a"):
        verdict = policy.decide(*house.call(text), hook=Behavior.ALLOW)
        assert verdict.behavior is Behavior.DENY
        assert "outside the working directories" in verdict.reason
    assert policy.decide(*house.call("Read /w/src/a")).behavior is Behavior.ALLOW


def test_patterns_end_where_a_gitignore_pattern_ends(house: House) -> None:
    for name in ("notes/a", "notes/deep/b"):
        (house.home / name).parent.mkdir(parents=True, exist_ok=True)
        (house.home / name).touch()
    assert house.outcome(("allow Read(~/notes/*)",), "Read /h/notes/deep/b") == "ask"
    assert house.outcome(("allow Read(~/notes/**)",), "Read /h/notes/deep/b") == "allow"
    assert house.outcome(("allow Read(~/notes)",), "Read /h/notes/deep/b") == "allow"
    assert house.outcome(("deny Read(~/notes/*)",), "Read /h/notes/deep/b") == "deny"


def test_a_bare_name_counts_at_any_depth(house: House) -> None:
    assert house.outcome(("allow Edit(README.md)",), "Edit /w/a/README.md") == "allow"
    assert house.outcome(("allow Edit(*.ts)",), "Edit /w/vendor/p/src/b.ts") == "allow"
    assert house.outcome(("deny Read(.env)",), "Read /h/other/.env") == "deny"
    assert house.outcome(("allow Edit(./README.md)",), "Edit /w/a/README.md") == "ask"
    assert house.outcome(("allow Edit(./README.md)",), "Edit /w/README.md") == "allow"
    # As the name of a directory it opens only the one in the working directory.
    assert house.outcome(("allow Edit(src)",), "Edit /w/src/a.ts") == "allow"
    assert house.outcome(("allow Edit(src)",), "Edit /w/vendor/p/src/b.js") == "ask"


def test_the_four_anchors(house: House) -> None:
    (house.home / ".claude").mkdir()
    from_user = house.rule("allow Edit(/skills/**)", "user")
    assert house.policy(from_user).decide(*house.call("Edit /w/skills/x")).behavior is Behavior.ASK
    elsewhere = replace(from_user, source=replace(from_user.source, base=house.home / "other"))
    assert house.policy(elsewhere).decide(*house.call("Edit /h/other/skills/x")).behavior is Behavior.ALLOW
    assert house.outcome((f"allow Read(/{house.home}/other/**)",), "Read /h/other/a") == "allow"
    assert house.outcome(("allow Read(docs/a.md)",), "Read /h/other/docs/a.md") == "ask"


def test_relative_deny_rules_hold_in_every_working_directory(house: House) -> None:
    house.additional = (house.home / "other",)
    assert house.outcome(("deny Read(secrets/**)",), "Read /h/other/secrets/x") == "deny"
    assert house.outcome(("allow Edit(docs/**)",), "Edit /h/other/docs/x") == "ask"


def test_a_directory_whose_content_is_denied_is_denied(house: House) -> None:
    (house.start / "secrets").mkdir()
    assert house.outcome(("deny Read(secrets/**)",), 'Grep {"pattern": "x", "path": "/w/secrets"}') == "deny"
    assert house.outcome(("deny Read(secrets/**)",), 'Grep {"pattern": "x", "path": "/w"}') == "allow"


def test_a_search_does_not_show_what_may_not_be_read(house: House) -> None:
    policy = house.policy("deny Read(secrets/**)", "ask Read(*.sql)", "allow Read(.env.example)")
    shown = {
        name: policy.shows(house.start / name)
        for name in ("src/a.py", "secrets/x", "lib/secrets/x", "dump.sql", ".env", ".env.example")
    }
    assert shown == {
        "src/a.py": True,
        "secrets/x": False,
        "lib/secrets/x": False,
        "dump.sql": False,
        ".env": False,
        ".env.example": True,
    }


def test_links_an_allow_rule_needs_link_and_target_a_deny_rule_either(house: House) -> None:
    (house.start / "src/inner").symlink_to("../docs")
    (house.start / "src/real.ts").touch()
    (house.start / "src/l.ts").symlink_to("real.ts")
    (house.start / "docs/way").symlink_to("../src")
    assert house.outcome(("allow Edit(src/**)",), "Edit /w/src/l.ts") == "allow"
    assert house.outcome(("allow Edit(src/**)",), "Edit /w/src/inner/a.md") == "ask"
    assert house.outcome(("allow Edit(src/**)",), "Edit /w/docs/way/real.ts") == "ask"
    assert house.outcome(("allow Edit(src/**)", "allow Edit(docs/**)"), "Edit /w/docs/way/real.ts") == "ask"
    assert house.outcome(("deny Edit(/docs/**)",), "Edit /w/src/inner/a.md") == "deny"
    assert house.outcome(("deny Edit(/src/inner/**)",), "Edit /w/src/inner/a.md") == "deny"


def test_deny_rules_see_through_letter_case_and_newlines_in_names(house: House) -> None:
    assert house.outcome(("deny Read(secrets/**)",), "Read /w/SECRETS/x") == "deny"
    odd = house.start / "a\nb"
    odd.mkdir()
    call, tool, access = house.call(f'Read {{"file_path": "{house.start}/a\\nb/.env"}}')
    assert house.policy("deny Read(.env)").decide(call, tool, access).behavior is Behavior.DENY
    call, tool, access = house.call(f'Edit {{"file_path": "{house.start}/a\\nb/x"}}')
    assert house.policy("allow Edit(**)").decide(call, tool, access).behavior is Behavior.ASK


def test_an_allow_rule_keeps_letter_case(house: House) -> None:
    assert house.outcome(("allow Edit(src/**)",), "Edit /w/SRC/x") == "ask"


def test_the_workspace_reached_through_a_link_is_still_the_workspace_for_rules(house: House) -> None:
    (house.root / "way").symlink_to(house.start)
    path = f"{house.root}/way/src/a.ts"
    assert house.outcome(("allow Edit(src/**)",), f"Edit {path}") == "allow"
    assert house.outcome(("deny Edit(src/**)",), f"Edit {path}") == "deny"


@pytest.mark.skipif(not Path("/proc/self/root").exists(), reason="Linux only: another name for the root")
def test_the_process_table_is_no_way_around(house: House) -> None:
    (house.start / ".env").touch()
    path = f"/proc/{os.getpid()}/root{house.start}/.env"
    assert house.outcome(("deny Read(.env)",), f"Read {path}") == "deny"


def test_a_bare_name_does_not_speak_of_directories_above_the_workspace(house: House) -> None:
    """The repository lies in `w`; a rule about things called `w` is about what is in it."""
    assert house.outcome(("deny Read(w)",), "Read /w/src/a.py") == "allow"
    assert house.outcome(("deny Read(w)",), "Read /w/src/w") == "deny"
    assert house.outcome(("deny Read(h)",), "Read /h/other/a") == "ask"


def test_a_directory_with_capitals_is_looked_at_under_its_own_name(house: House) -> None:
    (house.start / "Secrets").mkdir()
    assert house.outcome(("deny Read(Secrets/**)",), 'Grep {"pattern": "x", "path": "/w/Secrets"}') == "deny"


SEGMENTS = st.sampled_from(["a", "b", "src", "*", "**", "*.py", "a*", "?", "[ab]", "x.py", ".env"])
NAMES = st.sampled_from(["a", "b", "src", "x.py", "ab", ".env", "c"])


@settings(
    max_examples=150,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.sampled_from(["", "./", "/", "~/", "//"]),
    st.lists(SEGMENTS, min_size=1, max_size=4),
    st.lists(NAMES, min_size=1, max_size=4),
)
def test_what_an_allow_rule_covers_a_deny_rule_of_the_same_pattern_reaches(
    house: House, anchor: str, segments: list[str], names: list[str]
) -> None:
    pattern = read_pattern(anchor + "/".join(segments), house.start)
    if isinstance(pattern, str):
        return
    policy = PathPolicy(house.workspace())
    for root in ("", str(house.start), str(house.home)):
        place = policy.locate(f"{root}/{'/'.join(names)}", house.start)
        if pattern.covers(place, policy.workspace):
            assert pattern.touches(place, policy.workspace)


def test_f_07_no_file_of_the_package_has_a_fixed_place_for_temporary_files() -> None:
    package = Path(mcode.__file__).parent
    named = [
        str(file)
        for file in package.rglob("*.py")
        if re.search(r"[\"']/(?:var/)?tmp/", file.read_text("utf-8"))
    ]
    assert named == []


@pytest.mark.parametrize(
    "line", ["cat ../y", "head -n 1 /etc/hostname", "ls ~", "grep x ../y", "head < ../y", "cd / && ls"]
)
def test_f_05_commands_ask_where_file_tools_ask(house: House, line: str) -> None:
    assert house.outcome((), f"Bash({line})") == "ask"
    assert house.outcome((), f"Bash({line})", mode=Mode.DONT_ASK) == "deny"
