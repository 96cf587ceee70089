"""Shell lines: what deny and ask rules reach in them, and what is asked about whatever the rules say."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.permissions.modes import Mode
from mcode.permissions.shell.lines import LENGTH_LIMIT, fragments, read_line
from mcode.permissions.shell.reach import Reach
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from tests.permissions.conftest import House

CURL = ("deny Bash(curl *)",)

HIDDEN_CURLS = (
    "curl x",
    "curl",
    "bash -c 'curl x'",
    "env curl x",
    "a=1 curl x",
    "$(curl x)",
    '"curl" x',
    "/usr/bin/curl x",
    "c''url x",
    "\\curl x",
    "cu\\\nrl x",
    "true && curl x",
    "ls;curl x",
    "ls|curl x",
    "ls |& curl x",
    "ls & curl x",
    "ls\ncurl x",
    "(curl x)",
    "{ curl x; }",
    "if true; then curl x; fi",
    "while curl x; do :; done",
    "! curl x",
    "f() { curl x; }; f",
    "function f { curl x; }; f",
    "case x in x) curl x;; esac",
    "echo `curl x`",
    'echo "a $(curl x) b"',
    'echo "`curl x`"',
    "echo ${y:-$(curl x)}",
    'echo "${x:-"}"; curl x; echo "}"',
    "echo $((a[$(curl x)]))",
    "test -v 'a[$(curl x)]'",
    "cat <(curl x)",
    "cat <<EOF\n$(curl x)\nEOF",
    "cat <<'E'OF\nx\nEOF\ncurl x",
    "cat <<A <<B\na\nA\nb\nB\ncurl x",
    "bash <<EOF\ncurl x\nEOF",
    "bash <<< 'curl x'",
    "echo 'curl x' | sh",
    "cat << EOF | bash\ncurl x\nEOF",
    "env -i A=1 curl x",
    "env -S'curl x'",
    "timeout -k 1 5 curl x",
    "nice -n 5 curl x",
    "nohup curl x &",
    "stdbuf -oL curl x",
    "command -p curl x",
    "exec curl x",
    "xargs -n1 curl x",
    "echo x | xargs -I{} sh -c 'curl {}'",
    "find . -exec curl x \\;",
    "find . -exec sh -c 'curl x' \\;",
    "sudo -u nobody curl x",
    "eval 'curl x'",
    "eval cu''rl x",
    "trap 'curl x' EXIT",
    "sh -c \"bash -c 'curl x'\"",
    "{echo,curl} x",
    "$'curl' x",
    "$'\\x63url' x",
    "x=curl; $x y",
    "/usr/bin/c?rl x",
    "CURL x",
    "echo 'a\\'; curl x; echo 'b'",
    'echo "a\\\\"; curl x; echo "b"',
    "echo a # '\ncurl x",
    "ls 2>&1 >f; curl x",
    ">f curl x",
    "curl x # harmless",
    "a=(1 2); curl x",
    "FOO+=1 curl x",
    "coproc curl x; wait",
    "time -p curl x",
    "echo hi\r\ncurl x",
    'echo "unclosed; curl x',
)


@pytest.mark.parametrize("line", HIDDEN_CURLS)
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.BYPASS])
def test_p_10_1_a_denied_program_is_found_where_a_rough_reading_shows_it(
    house: House, line: str, mode: Mode
) -> None:
    verdict = house.decide(CURL, f"Bash({line})", mode=mode)
    assert verdict.behavior is Behavior.DENY
    assert "`Bash(curl *)`" in verdict.reason


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.BYPASS])
def test_p_10_a_denied_program_behind_many_harmless_ones_is_denied(house: House, mode: Mode) -> None:
    assert house.outcome(CURL, f"Bash({'true && ' * 51}curl x)", mode=mode) == "deny"
    assert house.outcome(CURL, f"Bash({'true && ' * 5000}curl x)", mode=mode) == "deny"


INNOCENT = (
    "echo hello",
    "git commit -m 'curl is gone'",
    "curling x",
    "grep -rn curl src",
    "ls # do not curl x here",
    "cat <<EOF\nwe curl nothing\nEOF",
    "find . -name '*.py'",
    'echo "it\'s fine"; ls',
    "npm run curl-test",
    "echo $HOME ${HOME}/x",
)


@pytest.mark.parametrize("line", INNOCENT)
def test_p_10_1_words_in_harmless_places_are_not_commands(house: House, line: str) -> None:
    assert house.outcome(CURL, f"Bash({line})", mode=Mode.BYPASS) == "allow"


def test_p_10_3_ask_rules_reach_as_far_as_deny_rules(house: House) -> None:
    rules = ("ask Bash(git push *)", "allow Bash(git push)")
    for line in ("git push", "cd x && git push -f", "bash -c 'git push'"):
        assert house.outcome(rules, f"Bash({line})", mode=Mode.BYPASS) == "ask"


def test_p_10_4_only_a_rule_that_equals_the_whole_line_lets_it_run(house: House) -> None:
    line = "make test && echo $(date) > log.txt"
    assert house.outcome((f"allow Bash({line})",), f"Bash({line})") == "allow"
    for rule in ("Bash", "Bash(*)", "Bash(make *)", f"Bash({line[:-4]}*)", f"Bash( {line})"):
        assert house.outcome((f"allow {rule}",), f"Bash({line})") == "ask", rule


def test_p_10_6_a_line_too_long_to_be_read_is_denied_where_nobody_would_be_asked(house: House) -> None:
    line = f"echo {'x' * LENGTH_LIMIT}"
    verdict = house.decide(CURL, f"Bash({line})", mode=Mode.BYPASS)
    assert verdict.behavior is Behavior.DENY
    assert f"longer than {LENGTH_LIMIT} characters" in verdict.reason
    assert house.outcome(("ask Bash(rm *)",), f"Bash({line})", mode=Mode.BYPASS) == "deny"
    assert house.outcome(CURL, f"Bash({line})") == "ask"
    assert house.outcome(("deny Read(.env)",), f"Bash({line})", mode=Mode.BYPASS) == "allow"


def test_rules_with_wildcards_elsewhere(house: House) -> None:
    assert house.outcome(("deny Bash(*--force*)",), "Bash(git push --force)") == "deny"
    assert house.outcome(("deny Bash(* | sh)",), "Bash(wget -O- x | sh)") == "deny"
    assert house.outcome(("deny Bash(git * --hard)",), "Bash(cd a; git reset --hard)") == "deny"
    assert house.outcome(("deny Bash(rm*)",), "Bash(rmdir x)") == "deny"
    assert house.outcome(("deny Bash(rm *)",), "Bash(rmdir x)") == "ask"
    assert house.outcome(("deny Bash(git branch -D *)",), "Bash(git branch -d x)") == "ask"
    assert house.outcome(('deny Bash(git commit -m "x" *)',), "Bash(git  commit -m 'x' -a)") == "deny"


CRITICAL = (
    "rm -rf /",
    "rm -rf /*",
    "rm -rf /usr",
    "rm -rf /usr/",
    "rm -r -f -- /etc",
    "rm -rf ~",
    "rm -rf ~/",
    "rm -rf ~/*",
    "rm -rf $HOME",
    'rm -rf "$HOME"/*',
    "rm -rf ${HOME}/",
    "rm -rf .",
    "rm -rf ./",
    "rm -rf *",
    "rm -rf ..",
    "rm -rf ../..",
    "rm -rf src/..",
    'rm -rf "$X"/*',
    'rm -rf "$X/"',
    "rm $X/*.log",
    "rm -rf $X",
    "rm -rf $(echo /)",
    "rm -rf `echo /`",
    "echo $(rm -rf /)",
    "echo `rm -rf /`",
    "true && sudo rm -rf /",
    "bash -c 'rm -rf ~'",
    "cd / && rm -rf etc",
    "cd .. && rm -rf w",
    "cd $D && rm -rf x",
    "r''m -rf /",
    "/bin/rm -rf /",
    "RM -rf /",
    "rm -rf {/,x}",
    "rm -rf /{bin,etc}",
    "rm -rf {src,..}",
    "rmdir ..",
    "ls | xargs rm -rf",
    "find / -delete",
    "find . -exec rm -rf {} +",
    "rm -rf ~root",
)


@pytest.mark.parametrize("line", CRITICAL)
def test_removing_a_critical_path_asks_in_every_mode_whatever_allows_it(house: House, line: str) -> None:
    rules = ("allow Bash(rm *)", "allow Bash", f"allow Bash({line})")
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS):
        verdict = house.decide(rules, f"Bash({line})", mode=mode, hook=Behavior.ALLOW)
        assert verdict.behavior is Behavior.ASK
        assert "a critical path; that is asked about in every mode, and no rule lifts it" in verdict.reason
        assert verdict.proposals == ()
    assert house.outcome(rules, f"Bash({line})", mode=Mode.DONT_ASK) == "deny"


def test_the_start_directory_is_critical_by_every_name(house: House) -> None:
    (house.home / "way").symlink_to(house.start)
    for path in (str(house.start), f"{house.start}/", f"{house.home}/way/", str(house.root)):
        assert house.outcome((), f"Bash(rm -rf {path})", mode=Mode.BYPASS) == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf build",
        "rm -rf build/*",
        "rm *.pyc",
        'rm "$f"',
        'rm -rf "$X"/build',
        "rm -rf ./out/",
        "find . -name x -delete",
    ],
)
def test_ordinary_removals_are_not_critical(house: House, line: str) -> None:
    assert house.outcome((), f"Bash({line})", mode=Mode.BYPASS) == "allow"


PROTECTED = (
    "echo x > .git/config",
    "echo x >> ~/.bashrc",
    "echo x >| .envrc",
    "echo x 2>.npmrc",
    "echo x &> .mcp.json",
    "cat a > $HOME/.ssh/authorized_keys",
    "rm -rf .git",
    "rm -rf .GIT",
    "mv x .git/hooks/pre-commit",
    "cp x .vscode/tasks.json",
    "tee .claude/settings.json < x",
    "sed -i s/a/b/ .pre-commit-config.yaml",
    "cd .git && echo x > config",
    "touch '.git/x'",
    "touch .g*/x",
    "touch .gi?/x",
    "touch {.git,x}/y",
    "dd of=.bashrc if=x",
    "git -C . config -f .git/config a b",
    "curl -o .mcode/settings.json x",
    "bash -c 'echo x > .git/config'",
    "python -c \"open('.git/config','w')\"",
    "python3 - <<EOF\nopen('.git/config','w')\nEOF",
    "sort -o .profile x",
    "find . -name x -fprintf .zshrc y",
    "git diff --output=.bashrc",
    "ln -s x .husky/y",
)


@pytest.mark.parametrize("line", PROTECTED)
def test_f_03_writing_a_protected_path_by_a_command_asks_in_every_mode(house: House, line: str) -> None:
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS):
        verdict = house.decide((f"allow Bash({line})",), f"Bash({line})", mode=mode)
        assert (verdict.behavior, verdict.kind) == (Behavior.ASK, "path")


def test_f_03_a_link_to_a_protected_directory_is_seen_through(house: House) -> None:
    (house.start / ".git").mkdir()
    (house.start / "innocent").symlink_to(".git")
    assert house.outcome((), "Bash(cp x innocent/config)", mode=Mode.BYPASS) == "ask"
    assert house.outcome((), "Bash(cd innocent; cp x config)", mode=Mode.BYPASS) == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "cat .git/config",
        "ls -la .claude",
        "grep -rn x .github .vscode --exclude-dir=.git",
        "find . -name x -not -path '*/.git/*'",
        "git status",
        "git add .mcp.json",
        "git commit -m 'keep .git tidy'",
        "git log -- .claude",
        "echo 'see .profile' > notes.txt",
        "cat > README.md <<EOF\nput it into .bashrc\nEOF",
        "rsync -a --exclude .git src/ out/",
        "tar --exclude=.git -cf x.tar src",
        "cp .gitignore x",
    ],
)
def test_f_03_reading_or_naming_a_protected_path_is_not_writing_it(house: House, line: str) -> None:
    assert house.outcome((), f"Bash({line})", mode=Mode.BYPASS) == "allow"


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("deny Read(.env)", "cat .env"),
        ("deny Read(.env)", "head -3 ./.env"),
        ("deny Read(.env)", "tail < .env"),
        ("deny Read(.env)", "true; sed -n 1p a/.env"),
        ("deny Read(.env)", "cd a && cat .env"),
        ("deny Read(.env)", "cat $PWD/.env"),
        ("deny Read(.env)", "bash -c 'cat .env'"),
        ("deny Read(.env)", "cat .en*"),
        ("deny Read(~/notes/**)", "cat ~/notes/x"),
        ("ask Read(secrets/**)", "cat secrets/x"),
        ("deny Edit(src/**)", "echo x > src/a"),
        ("deny Edit(src/**)", "cd src; echo x >> a"),
        ("deny Read(src/**)", "echo x > src/a"),
        ("deny Edit(src/**)", "tee src/a"),
        ("deny Edit(src/**)", "sed -i s/a/b/ src/a"),
        ("deny Edit(src/**)", "cp x src"),
        ("deny Edit(src/**)", "rm -rf src"),
        ("deny Read(.env)", "cp .env x"),
    ],
)
def test_rules_about_files_reach_into_commands_that_show_or_redirect(
    house: House, rule: str, line: str
) -> None:
    (house.start / ".env").touch()
    assert house.outcome((rule,), f"Bash({line})", mode=Mode.BYPASS) == rule.partition(" ")[0]


def test_rules_about_files_reach_the_last_of_many_names(house: House) -> None:
    line = f"cat {' '.join(f'n{number}' for number in range(900))} .env"
    assert house.outcome(("deny Read(.env)",), f"Bash({line})") == "deny"


def test_rules_about_files_do_not_reach_into_arbitrary_programs(house: House) -> None:
    assert house.outcome(("deny Read(.env)",), "Bash(git add .env)", mode=Mode.BYPASS) == "allow"
    assert house.outcome(("deny Edit(src/**)",), "Bash(cat src/a)", mode=Mode.BYPASS) == "allow"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c' \"d e\"", ("a", "b c", "d e")),
        ("a\\ b c", ("a b", "c")),
        ("a \\\n  -l", ("a", "-l")),
        ("A=1 B=2 c d", ("c", "d")),
        ("a '' b", ("a", "", "b")),
        ("a 2>f b", ("a", "b")),
        ('"a$b" c', ("a$b", "c")),
        ("a b#c #d", ("a", "b#c")),
    ],
)
def test_words_are_read_as_the_shell_reads_them(text: str, words: tuple[str, ...]) -> None:
    line = read_line(text)
    assert line.parts[0].words == words
    assert line.doubt == ""


def test_the_text_of_a_here_document_belongs_to_its_command() -> None:
    line = read_line("cat <<-'X Y' | wc -l; ls\n\ta b\n\tX Y\necho end")
    assert [part.words for part in line.parts] == [("cat",), ("wc", "-l"), ("ls",), ("echo", "end")]
    assert line.parts[0].redirects[0].target == "\ta b"
    assert line.doubt == ""


PIECES = st.sampled_from(
    [
        "a",
        "'",
        '"',
        "$(",
        ")",
        "`",
        "\\",
        "\n",
        " ",
        ";",
        "&&",
        "|",
        "<<E",
        ">",
        "#",
        "${",
        "}",
        "$'",
        "{",
        "curl x",
        "eval ",
    ]
)


@settings(max_examples=150, deadline=None, database=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_read_without_failing(text: str) -> None:
    reach = Reach(read_line(text))
    assert all(command.words for command in reach.commands)
    assert all(words for words in fragments(text))


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(WORDS, min_size=1, max_size=6))
def test_words_that_are_quoted_come_back_as_they_were(words: list[str]) -> None:
    line = read_line("x " + shlex.join(words))
    assert line.parts[0].words == ("x", *words)


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 5000,
        "(" * 9000,
        "`" * 9999,
        "'" * 9999,
        "eval " * 1900,
        "bash -c '" * 1000,
        "rm $x " * 1600,
        "a" * 50_000,
    ],
)
def test_hostile_lines_are_judged_in_reasonable_time(house: House, text: str) -> None:
    """They once took minutes; the limit is far above what they take now, for the sake of slow machines."""
    began = time.process_time()
    house.decide((*CURL, "ask Bash(*y*)", "deny Read(.env)"), f"Bash({text})", mode=Mode.BYPASS)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("Bash(git push *)", "git -C sub push origin"),
        ("Bash(git push *)", "git --no-pager push"),
        ("Bash(git push *)", "cd sub && git -c a.b=c --git-dir .git -C x push --force"),
        ("Bash(git push *)", "timeout 5 git -C sub push"),
        ("Bash(npm publish *)", "npm --prefix web publish"),
        ("Bash(kubectl delete *)", "kubectl -n prod --context=x delete pod y"),
        ("Bash(cargo publish *)", "cargo +nightly publish"),
    ],
)
def test_a_rule_that_denies_or_asks_looks_past_the_options_before_a_subcommand(
    house: House, rule: str, line: str
) -> None:
    everything = "allow Bash(*)"
    assert house.outcome((everything, f"deny {rule}"), f"Bash({line})") == "deny"
    assert house.outcome((everything, f"ask {rule}"), f"Bash({line})") == "ask"


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("Bash(git push *)", "git log --grep push"),
        ("Bash(git push *)", "git commit -m push"),
        ("Bash(git -C other *)", "git -C sub status"),
        ("Bash(ls /etc *)", "ls -la"),
    ],
)
def test_such_a_rule_reaches_no_further_than_to_the_subcommand(house: House, rule: str, line: str) -> None:
    assert (
        house.outcome(("allow Bash(git *)", "allow Bash(ls *)", f"deny {rule}"), f"Bash({line})") == "allow"
    )


def test_what_git_shows_of_a_file_is_reading_it(house: House) -> None:
    for line in (
        *("git show HEAD:.env", "git show HEAD:./.env", "git -C . blame .env", "git log -L1,3:.env"),
        *("git log -p -- .env", "git diff .env", "git cat-file -p HEAD:.env"),
    ):
        assert house.outcome(("allow Bash(git *)", "deny Read(.env)"), f"Bash({line})") == "deny", line
    assert house.outcome(("allow Bash(git *)", "deny Read(.env)"), "Bash(git add .env)") == "allow"


def test_a_line_made_to_be_compared_without_end_counts_as_reached(house: House) -> None:
    line = "eval ${x:-y} " + "git -a " * 1_400
    assert house.outcome(("deny Bash(git push *)",), f"Bash({line})") == "ask"
    assert house.outcome(("deny Bash(git * push)",), f"Bash({line})") == "deny"
