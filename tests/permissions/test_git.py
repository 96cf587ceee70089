"""git without a question: listed subcommands and options, and only where the repository's configuration is inert."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.config.settings import RuleText, Settings, Source
from mcode.permissions.check import shell_call
from mcode.permissions.decide import Policy
from mcode.permissions.git import table, tracked
from mcode.permissions.git.config import keys_of, obstacle
from mcode.permissions.git.shows import shows_content
from mcode.permissions.git.table import LISTED
from mcode.permissions.modes import Mode
from mcode.permissions.secret_names import secret_part
from mcode.permissions.verdict import Behavior
from mcode.tool import Workspace
from tests.permissions.test_paths import EVERYDAY, SECRETS
from tools.guard_cases import GIT, Scratch

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcode.permissions.verdict import Verdict

ALL = "git -c core.fsmonitor=false -c core.hooksPath=/dev/null --no-pager --no-optional-locks"
HIDING = f"-c core.attributesFile={Path(table.__file__).with_name('secrets.gitattributes')}"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("git"))


def judged(scratch: Scratch, line: str) -> Verdict:
    return scratch.judge(line, scratch.policy())


@contextmanager
def configured(scratch: Scratch, key: str) -> Generator[None]:
    """The repository with one more key in its own configuration."""
    file = scratch.folder / ".git/config"
    before = file.read_bytes()
    section, _, name = key.rpartition(".")
    head, _, subsection = section.partition(".")
    header = f'[{head} "{subsection}"]' if subsection else f"[{head}]"
    file.write_bytes(before + f"{header}\n\t{name} = x\n".encode())
    try:
        yield
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(
    ("line", "runs_as"),
    [
        ("git status", f"{ALL} status --ignore-submodules=dirty"),
        (
            "git diff HEAD~1 -- src",
            f"{ALL} {HIDING} diff --no-ext-diff --no-textconv --ignore-submodules=dirty HEAD~1 -- src",
        ),
        ("git log --oneline -3", f"{ALL} log --no-ext-diff --no-textconv --oneline -3"),
        ("git show HEAD:src/a.py", f"{ALL} show --no-ext-diff --no-textconv HEAD:src/a.py"),
        ("git -C src status -sb", f"git -C src {ALL[4:]} status --ignore-submodules=dirty -sb"),
        ("git branch", f"{ALL} branch"),
        ("git rev-parse --short HEAD", f"{ALL} rev-parse --short HEAD"),
        ("git ls-files -m", f"{ALL} ls-files -m"),
        ("git blame -L 1,2 a.txt", f"{ALL} blame -L 1,2 a.txt"),
        ("git describe --tags --always", f"{ALL} describe --tags --always"),
        (
            "git --no-pager log -n1 --format='%h %s'",
            f"{ALL} log --no-ext-diff --no-textconv -n1 '--format=%h %s'",
        ),
        ("git shortlog -sn HEAD", f"{ALL} shortlog -sn HEAD"),
    ],
)
def test_p_12_reading_runs_of_git_run_with_nothing_configured(
    scratch: Scratch, line: str, runs_as: str
) -> None:
    verdict = judged(scratch, line)
    assert verdict.run_as == runs_as, verdict.reason
    ran = subprocess.run(
        ["bash", "-c", runs_as], cwd=scratch.folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "line",
    [
        "git -c core.pager=x log",
        "git -p log",
        "git --paginate log",
        "git --git-dir=x status",
        "git --work-tree=x status",
        "git --exec-path=x status",
        "git --config-env=a=b status",
        "git -C .. status",
        "git -C /etc log",
        "git log --output=PWN",
        "git diff -Oorder",
        "git diff --ext-diff",
        "git show --textconv",
        "git diff --no-index a.txt b.txt",
        "git diff a.txt /etc/hostname",
        "git diff a.txt ../x",
        "git log --show-signature",
        "git log --format=%G?",
        "git log --pretty='format:%GG'",
        "git blame --contents=/etc/hostname a.txt",
        "git show HEAD:.env",
        "git diff -- .env",
        "git log -L1,3:.env",
        "git log -s -L :main:.env -L1,2:a.txt",
        "git branch new",
        "git branch -D main",
        "git tag v1",
        "git stash list",
        "git add .",
        "git commit -m x",
        "git checkout .",
        "git fetch",
        "git remote -v",
        "git status *",
        "git lo",
        "git",
        "git 'status'x",
        "git diff --submodule=diff",
    ],
)
def test_p_12_every_other_run_of_git_asks(scratch: Scratch, line: str) -> None:
    verdict = judged(scratch, line)
    assert verdict.behavior is Behavior.ASK
    assert verdict.reason


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor",
        "core.hooksPath",
        "core.pager",
        "core.sshCommand",
        "core.worktree",
        "core.attributesFile",
        "core.alternateRefsCommand",
        "filter.x.clean",
        "diff.external",
        "diff.y.textconv",
        "alias.status",
        "include.path",
        "includeIf.gitdir:/.path",
        "gpg.program",
        "log.showSignature",
        "remote.origin.uploadpack",
        "remote.origin.promisor",
        "pager.log",
        "credential.helper",
        "unknown.key",
    ],
)
def test_p_12_a_key_that_is_not_inert_asks_and_is_named(scratch: Scratch, key: str) -> None:
    with configured(scratch, key):
        verdict = judged(scratch, "git status")
        assert verdict.behavior is Behavior.ASK
        assert key in verdict.reason
        assert str(scratch.folder / ".git/config") in verdict.reason
    assert judged(scratch, "git status").behavior is Behavior.ALLOW


def test_p_12_an_ordinary_clone_is_inert(scratch: Scratch, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(scratch.folder), str(tmp_path / "c")], check=True)
    for key in (
        "user.signingkey",
        "pull.rebase",
        "push.default",
        "color.ui",
        "branch.x.merge",
        "init.defaultBranch",
    ):
        subprocess.run(["git", "config", key, "x"], cwd=tmp_path / "c", check=True)
    assert obstacle(str((tmp_path / "c").resolve())) == ""


def test_p_12_a_worktree_is_judged_by_the_repository_that_it_belongs_to(
    scratch: Scratch, tmp_path: Path
) -> None:
    tree = tmp_path.resolve() / "tree"
    subprocess.run([*GIT, "worktree", "add", "-q", str(tree)], cwd=scratch.folder, check=True)
    assert obstacle(str(tree)) == ""
    with configured(scratch, "core.fsmonitor"):
        assert "core.fsmonitor" in obstacle(str(tree))
    subprocess.run(["git", "worktree", "remove", str(tree)], cwd=scratch.folder, check=True)


def test_p_12_worktree_configuration_counts(scratch: Scratch) -> None:
    file = scratch.folder / ".git/config.worktree"
    file.write_text("[core]\n\tfsmonitor = x\n")
    try:
        assert "fsmonitor" in judged(scratch, "git status").reason
    finally:
        file.unlink()


def test_p_12_a_bare_repository_or_a_broken_git_file_on_the_way_asks(
    scratch: Scratch, tmp_path: Path
) -> None:
    here = tmp_path.resolve()
    subprocess.run(["git", "init", "-q", "--bare", str(here / "b")], check=True)
    assert "bare repository" in obstacle(str(here / "b"))
    (here / "c").mkdir()
    (here / "c/.git").write_text("nonsense\n")
    assert "could not be followed" in obstacle(str(here / "c"))
    (here / "d").mkdir()
    os.mkfifo(here / "d/.git")
    assert "could not be followed" in obstacle(str(here / "d"))


def test_p_12_a_directory_with_a_repository_of_its_own_is_judged_by_that(scratch: Scratch) -> None:
    nested = scratch.folder / "nested"
    subprocess.run(["git", "init", "-q", str(nested)], check=True)
    subprocess.run(["git", "config", "core.fsmonitor", "./x"], cwd=nested, check=True)
    assert judged(scratch, "git status").behavior is Behavior.ALLOW
    for line in ("cd nested && git status", "git -C nested status"):
        assert "core.fsmonitor" in judged(scratch, line).reason


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", ()),
        ('[core]\n\tbare = false\n[remote "o"]\n\turl = x ; y\n', ("core.bare", "remote.o.url")),
        ("[core] fsmonitor = x\n", ("core.fsmonitor",)),
        ("[a]\n# b = c\n; d = e\nf\n", ("a.f",)),
        ('[Branch "a b.c"]\nMerge=x\n', ("Branch.a b.c.Merge",)),
        ("\ufeff[a]\nb=1\r\n", ("a.b",)),
    ],
)
def test_p_12_keys_of_a_configuration_file(text: str, keys: tuple[str, ...]) -> None:
    assert keys_of(text) == keys


@pytest.mark.parametrize(
    "text", ["a = b\n", "[a]\nb = c\\\nfsmonitor = x\n", "[a\n", "[a][b]\n", "[a]\n= x\n", '[a "x]\nb=1\n']
)
def test_p_12_what_is_not_plain_is_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        keys_of(text)


@pytest.fixture(scope="module")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """A repository that tracks a file of secrets and one that nothing but a rule speaks of."""
    scratch = Scratch(tmp_path_factory.mktemp("tracking"))
    for name, text in ((".env", "TOKEN=1\n"), ("src/prod.yml", "key: 2\n"), ("certs/one.pem", "3\n")):
        (scratch.folder / name).parent.mkdir(exist_ok=True)
        (scratch.folder / name).write_text(text)
    subprocess.run(["git", "add", "-A"], cwd=scratch.folder, check=True)
    subprocess.run([*GIT, "commit", "-qm", "all"], cwd=scratch.folder, check=True)
    for name in (".env", "src/prod.yml", "certs/one.pem", "a.txt"):
        with (scratch.folder / name).open("a") as file:
            file.write("MORE\n")
    return scratch


def ruled(
    scratch: Scratch,
    line: str,
    *rules: str,
    current: str = "",
    mode: Mode = Mode.DEFAULT,
    hook: Behavior | None = None,
) -> Verdict:
    """The verdict with rules as `deny Read(x)`, in a folder of the repository."""
    source = Source("user", None, scratch.folder, trusted=True)
    texts = [RuleText(rule.partition(" ")[2], rule.partition(" ")[0], source) for rule in rules]
    workspace = Workspace(scratch.folder, current=scratch.folder / current, home=scratch.root / "h")
    settings = Settings(env={"PATH": scratch.path})
    policy = Policy(settings, workspace, mode, cli_rules=texts, can_bypass=True)
    return policy.decide(*shell_call(line), hook=hook)


def shown(scratch: Scratch, verdict: Verdict, current: str = "") -> str:
    """What git prints, run as it was judged."""
    assert verdict.behavior is Behavior.ALLOW, verdict
    assert verdict.run_as is not None
    ran = subprocess.run(
        ["bash", "-c", verdict.run_as],
        cwd=scratch.folder / current,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout


@pytest.mark.parametrize(
    "line",
    [
        "git diff",
        "git diff HEAD",
        "git diff HEAD~1 HEAD",
        "git diff HEAD -- .",
        "git diff certs src",
        "git diff '*.yml' 'c*' src/a.py",
        "git diff -- ':(top)'",
        "git -C src diff",
        "git log -p",
        "git log -n 2 -U1 --stat",
        "git log -S TOKEN -p",
        "git show",
        "git show HEAD",
        "git diff --stat -p",
        "cd src && git diff",
    ],
)
def test_git_leaves_out_tracked_files_that_are_not_read_unasked(tracking: Scratch, line: str) -> None:
    plain = subprocess.run(["bash", "-c", line], cwd=tracking.folder, capture_output=True, text=True).stdout
    assert "TOKEN" in plain or "key: 2" in plain or "one.pem" in plain
    verdict = ruled(tracking, line, "deny Read(src/prod.yml)")
    printed = shown(tracking, verdict)
    assert not [name for name in (".env", "prod.yml", "one.pem") if name in printed]
    assert verdict.note.startswith("Left out, since reading it asks or is denied")


@pytest.mark.parametrize(
    "line",
    [
        "git status",
        "git diff a.txt",
        "git diff src/a.py",
        "git diff --stat",
        "git diff --name-only HEAD",
        "git log --oneline -3",
        "git show --stat",
        "git show HEAD:a.txt",
        "git log -L1,2:a.txt",
        "git log -p --follow a.txt",
    ],
)
def test_what_shows_none_of_them_runs_as_before(tracking: Scratch, line: str) -> None:
    verdict = ruled(tracking, line, "deny Edit(src/**)", "deny Edit(a.txt)")
    assert verdict.run_as is not None
    assert ":(" not in verdict.run_as
    assert verdict.note == ""
    shown(tracking, verdict)


def test_no_listed_option_shows_lines_but_those_that_are_known_to(tracking: Scratch) -> None:
    (tracking.folder / "line.txt").write_text("A LINE\n")
    commit = [*GIT, "commit", "-qm", "line", "--", "line.txt"]
    subprocess.run(["git", "add", "line.txt"], cwd=tracking.folder, check=True)
    subprocess.run(commit, cwd=tracking.folder, check=True)
    for name, figures in (("log", []), ("show", ["--stat"])):
        listed = LISTED[name]
        given = {f"-{letter}": letter for letter in listed.flags}
        given |= {f"-{letter}1": letter for letter in listed.valued if letter != "L"}
        given |= {f"--{word}{'' if takes is None else '=1'}": word for word, takes in listed.long.items()}
        for option, key in given.items():
            if shows_content(name, {key: "", **dict.fromkeys((each[2:] for each in figures), "")}):
                continue
            run = ["git", name, "-n1", *figures, option]
            printed = subprocess.run(run, cwd=tracking.folder, capture_output=True, text=True).stdout
            assert "A LINE" not in printed, run
    assert (
        "A LINE"
        in subprocess.run(
            ["git", "log", "-n1", "-p"], cwd=tracking.folder, capture_output=True, text=True
        ).stdout
    )


def test_an_allow_rule_for_such_a_file_lets_git_show_it(tracking: Scratch) -> None:
    verdict = ruled(tracking, "git diff", "allow Read(.env)")
    assert "TOKEN" in shown(tracking, verdict)
    assert verdict.note.endswith(": certs/one.pem.")


def test_a_wildcard_for_git_does_not_lift_what_is_asked_about_a_file(tracking: Scratch) -> None:
    assert "TOKEN" not in shown(tracking, ruled(tracking, "git diff", "allow Bash(git *)"))
    exact = ruled(tracking, "git diff", "allow Bash(git diff)")
    assert (exact.behavior, exact.run_as) == (Behavior.ALLOW, None)
    for line in ("git show HEAD:.env", "git cat-file -p HEAD:.env", "git grep TOKEN HEAD -- .env"):
        verdict = ruled(tracking, line, "allow Bash(git *)")
        assert verdict.behavior is Behavior.ASK
        assert ".env" in verdict.reason
    verdict = ruled(tracking, "git stash show -p", "allow Bash(git *)", "deny Read(src/prod.yml)")
    assert verdict.reason == "it may show src/prod.yml, and a rule about files speaks of that"
    assert ruled(tracking, "git stash show -p", "allow Bash(git *)").behavior is Behavior.ALLOW
    verdict = ruled(tracking, "grep -r TOKEN .", "allow Bash(grep *)")
    assert "TOKEN" not in (verdict.run_as or "").replace("TOKEN .", "")
    assert "were left out" in verdict.note


@pytest.mark.parametrize(
    ("line", "current"),
    [
        ("git show HEAD:src/prod.yml", ""),
        ("git show HEAD:src/prod.yml", "tests"),
        ("git -C src show HEAD:./prod.yml", ""),
        ("git -C src diff -- prod.yml", ""),
        ("git -C ../src cat-file -p HEAD:src/prod.yml", "tests"),
        ("git blame prod.yml", "src"),
    ],
)
def test_a_deny_rule_reaches_a_file_however_git_is_told_of_it(
    tracking: Scratch, line: str, current: str
) -> None:
    for mode in (Mode.DEFAULT, Mode.BYPASS):
        verdict = ruled(
            tracking, line, "deny Read(src/prod.yml)", "allow Bash(git *)", current=current, mode=mode
        )
        assert verdict.behavior is Behavior.DENY, (mode, verdict)


def test_the_content_of_such_a_file_is_not_shown_by_its_id(tracking: Scratch) -> None:
    found = subprocess.run(
        ["git", "rev-parse", ":.env"], cwd=tracking.folder, check=True, capture_output=True, text=True
    ).stdout.strip()
    for line in (f"git show {found}", f"git show {found[:8]}", f"git diff {found[:12]}..HEAD:a.txt"):
        verdict = ruled(tracking, line)
        assert verdict.behavior is Behavior.ASK
        assert ".env" in verdict.reason


def test_of_many_such_files_whole_directories_and_of_too_many_names_are_left_out(
    tracking: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracked, "NAMED_LIMIT", 1)
    verdict = ruled(tracking, "git diff", "deny Read(src/**)")
    assert verdict.note.endswith(": .env, certs/, src/.")
    assert "a.txt" in shown(tracking, verdict)
    monkeypatch.setattr(tracked, "TRACKED_LIMIT", 1)
    tracked._known.cache_clear()
    verdict = ruled(tracking, "git diff HEAD")
    printed = shown(tracking, verdict)
    assert "MORE" in printed
    assert "TOKEN" not in printed
    assert "one.pem" not in printed
    assert "names of secrets" in verdict.note
    assert ruled(tracking, "git diff", "deny Read(src/**)").behavior is Behavior.ASK
    tracked._known.cache_clear()


def test_an_index_that_is_not_understood_asks(tracking: Scratch) -> None:
    index = tracking.folder / ".git/index"
    before = index.read_bytes()
    index.write_bytes(before[:-30])
    try:
        verdict = ruled(tracking, "git diff")
        assert verdict.behavior is Behavior.ASK
        assert "form that is not read here" in verdict.reason
        assert ruled(tracking, "git status").behavior is Behavior.ALLOW
    finally:
        index.write_bytes(before)


DENIED = "deny Read(src/prod.yml)"


@pytest.mark.parametrize(
    "line",
    [
        "git diff",
        "git diff | cat",
        "cd src && git diff",
        "git log -p",
        "git show HEAD",
        "grep -rn MORE .",
        "cd src; grep -r MORE ..",
        "ls -a | cat && grep -r -e MORE --include='*.y?l' | cat",
    ],
)
@pytest.mark.parametrize("how", ["bypassPermissions", "a hook", "an exact rule"])
def test_what_a_deny_rule_names_is_left_out_of_a_line_whatever_lets_it_run(
    line: str, how: str, tracking: Scratch
) -> None:
    mode = Mode.BYPASS if how == "bypassPermissions" else Mode.DEFAULT
    rules = (DENIED, f"allow Bash({line})") if how == "an exact rule" else (DENIED,)
    verdict = ruled(tracking, line, *rules, mode=mode, hook=Behavior.ALLOW if how == "a hook" else None)
    assert verdict.note.endswith("prod.yml.")
    assert "key" not in (output := shown(tracking, verdict))
    assert "prod.yml:" not in output
    assert ruled(tracking, line, "deny Read(other)", mode=Mode.BYPASS).run_as is None


@pytest.mark.parametrize(
    "line",
    [
        "git diff > x.patch",
        "x=$(git diff); echo $x",
        "git stash show -p",
        "git grep key",
        "git archive HEAD",
        "cd / && git -C $OLDPWD show",
        "grep -Rn key .",
        "grep -rn key . > found.txt",
        "for x in 1 2; do egrep -r key; done",
        "rg key",
        "rg key src",
        "diff -r src sub",
        "find . -name '*.yml' -exec cat {} +",
        "find . -name '*.yml' | xargs cat",
    ],
)
def test_a_line_that_shows_what_a_deny_rule_names_does_not_run_in_bypass_mode(
    line: str, tracking: Scratch
) -> None:
    verdict = ruled(tracking, line, DENIED, mode=Mode.BYPASS)
    assert verdict.behavior is Behavior.DENY
    assert "prod.yml" in verdict.reason
    for rule in ("deny Read(other)", "deny Edit(src/prod.yml)", "ask Read(src/prod.yml)", "deny Bash(rm *)"):
        assert ruled(tracking, line, rule, mode=Mode.BYPASS).behavior is Behavior.ALLOW, rule


def test_a_line_that_shows_nothing_of_a_denied_file_runs_as_it_is_in_bypass_mode(tracking: Scratch) -> None:
    for line in (
        "git log --oneline > log.txt",
        "git diff --stat",
        "git diff -- a.txt",
        "git stash",
        "git add -A && git commit -qm x",
        "rg key docs sub",
        "grep -rn key sub",
        "find . -name '*.yml'",
        "npm test",
        "ls -R > listing.txt",
    ):
        verdict = ruled(tracking, line, DENIED, mode=Mode.BYPASS)
        assert (verdict.behavior, verdict.run_as) == (Behavior.ALLOW, None), line


def test_k_04_what_the_sandbox_lets_run_shows_no_files_of_secrets(tracking: Scratch) -> None:
    for line in ("git show HEAD:.env", "cat .env", "git diff", "npm test"):
        source = Workspace(tracking.folder, home=tracking.root / "h")
        policy = Policy(Settings(env={"PATH": tracking.path}), source, Mode.DEFAULT)
        policy.sandbox, policy.sandbox_allows = "a sandbox", True
        verdict = policy.decide(*shell_call(line))
        assert verdict.behavior is (Behavior.ASK if ".env" in line else Behavior.ALLOW), line
        assert "TOKEN" not in (shown(tracking, verdict) if line == "git diff" else "")


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """A repository whose history knows a file of secrets that it tracks no more, not even on another branch."""
    scratch = Scratch(tmp_path_factory.mktemp("forgetful"))
    commands = """
        echo TOKEN=1 > .env; mkdir -p src .config/gh; echo TOKEN=2 > src/Key.PEM; echo TOKEN=3 > .config/gh/hosts.yml
        git add -f . ; git commit -qm secrets
        echo TOKEN=4 > .env; echo MORE >> a.txt; git commit -qam both
        git checkout -qb side; echo TOKEN=5 > .env; git commit -qam side; git checkout -q -
        echo TOKEN=6 > .env; git commit -qam here; git merge -q side; echo TOKEN=7 > .env; git commit -qam merge
        git rm -q .env src/Key.PEM; git commit -qm removed; git rm -qr --cached .config
    """
    configured = {**os.environ, "GIT_CONFIG_COUNT": "2"}
    for at, key in enumerate(("user.name", "user.email")):
        configured |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": "t@example.com"}
    subprocess.run(
        ["bash", "-c", commands], cwd=scratch.folder, env=configured, check=True, capture_output=True
    )
    return scratch


@pytest.mark.parametrize(
    "line",
    [
        "git log -p --all",
        "git log -p --all --reverse",
        "git log --all -GTOKEN -p",
        "git log -p --first-parent",
        "git show HEAD~1",
        "git show HEAD HEAD~2",
        "git diff HEAD~1 HEAD",
        "git diff HEAD~3..HEAD~1",
        "git diff --cached",
        "git diff --word-diff HEAD~1",
        "git log -U9 -S7 --all",
    ],
)
def test_k_04_secrets_that_only_the_history_knows_are_not_shown(line: str, forgetful: Scratch) -> None:
    verdict = ruled(forgetful, line)
    output = shown(forgetful, verdict)
    assert "TOKEN" not in output
    everything = subprocess.run(
        ["bash", "-c", line], cwd=forgetful.folder, check=True, capture_output=True, text=True
    ).stdout
    assert "TOKEN" in everything, "there is something to hide"
    commits = [each for each in everything.splitlines() if each.startswith("commit ")]
    if "-G" not in line:
        assert [each for each in output.splitlines() if each.startswith("commit ")] == commits
    by_rule = ruled(forgetful, line, "allow Bash(git *)")
    assert "TOKEN" not in shown(forgetful, by_rule)
    assert "TOKEN" in shown(forgetful, ruled(forgetful, line, "allow Read(.env)", "allow Read(*.pem)")) or (
        "cached" in line
    )


def test_k_04_options_that_show_what_is_binary_ask(forgetful: Scratch) -> None:
    for option in ("-a", "--text", "--binary"):
        verdict = ruled(forgetful, f"git log -p {option}")
        assert verdict.behavior is Behavior.ASK
        assert f"with `{option}` it may show files of secrets" in verdict.reason
    assert ruled(forgetful, "git log --stat --text").behavior is Behavior.ALLOW


def test_the_attributes_that_hide_secrets_name_what_the_names_of_secrets_do(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    names = [*SECRETS, *(name.upper() for name in SECRETS), *EVERYDAY]
    listed = subprocess.run(
        ["git", *HIDING.split(), "check-attr", "--stdin", "diff"],
        input="\n".join(names),
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    hidden = {line.partition(": ")[0] for line in listed if line.endswith(": unset")}
    assert {name for name in names if secret_part(name)} == hidden


def test_k_04_a_wildcard_for_git_shows_no_configuration_in_which_a_credential_stands(
    scratch: Scratch,
) -> None:
    file = scratch.folder / ".git/config"
    before = file.read_text()
    lines = ("git remote -v", "git config --list", "git -C src remote get-url origin")
    subprocess.run(["git", "worktree", "add", "-q", "beside"], cwd=scratch.folder, check=True)
    try:
        for address, expected in (
            ("https://host/a", Behavior.ALLOW),
            ("https://me:" + "hunter" * 2 + "@host/a", Behavior.ASK),
        ):
            file.write_text(f'{before}[remote "origin"]\n\turl = {address}\n')
            for line in lines:
                assert ruled(scratch, line, "allow Bash(git *)").behavior is expected, line
            beside = ruled(scratch, "git remote -v", "allow Bash(git *)", current="beside")
            assert beside.behavior is expected
        allowed = ruled(scratch, "git remote -v", "allow Bash(git *)", "allow Read(.git/config)")
        assert allowed.behavior is Behavior.ALLOW
        assert ruled(scratch, "git remote -v", "allow Bash(git remote -v)").behavior is Behavior.ALLOW
    finally:
        file.write_text(before)
        subprocess.run(["git", "worktree", "remove", "-f", "beside"], cwd=scratch.folder, check=True)


def test_k_04_a_wildcard_for_git_shows_no_secrets_by_options_that_are_not_listed(forgetful: Scratch) -> None:
    (forgetful.folder / ".env").write_text("TOKEN=8\n")
    for line in (
        "git log -p -m --all",
        "git whatchanged -p --all",
        "git diff --full-index HEAD~1 --color-words",
    ):
        verdict = ruled(forgetful, line, "allow Bash(git *)")
        assert "TOKEN" not in shown(forgetful, verdict), line
        assert "TOKEN" in shown(forgetful, replace(verdict, run_as=line)), line
        assert ruled(forgetful, f"{line} --text", "allow Bash(git *)").behavior is Behavior.ASK
    assert ruled(forgetful, "git log -m --oneline", "allow Bash(git *)").run_as == "git log -m --oneline"
