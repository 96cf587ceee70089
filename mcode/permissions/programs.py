"""Kinds of programs, by name: which run other programs, which only read, which remove."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def words_of(text: str) -> frozenset[str]:
    """The words of a text as a set; a list in prose's form is easier to read and to keep in order."""
    return frozenset(text.split())


SHELLS = words_of("sh bash zsh dash ksh fish ash")

RUNNERS = SHELLS | words_of(
    """
    env sudo doas su runuser nohup timeout time nice ionice chrt taskset stdbuf command builtin exec noglob
    xargs parallel setsid flock watch find eval trap busybox chroot unshare nsenter strace ltrace script
    caffeinate direnv mise firejail bwrap systemd-run ssh entr
    """
)
"""Programs that run a command given in their arguments; deny and ask rules look through them."""

SUBCOMMANDED = words_of(
    """
    git hg svn jj gh glab npm pnpm yarn bun deno cargo go pip pip3 uv poetry conda docker podman kubectl helm aws gcloud
    az terraform tofu pulumi flyctl fly heroku vercel wrangler firebase systemctl apt apt-get brew dnf yum
    """
)
"""Programs that say in a word what they do, before which options may stand; rules that deny or ask look past those."""

OPTIONS_LIMIT = 16
"""Words that may stand before that word."""

JOINING = words_of("eval ssh watch trap")
"""Runners that put their arguments together to one line."""

INTERPRETERS = words_of("python python3 perl ruby node deno bun php lua awk")
"""Programs that run a program text given in their arguments or their input."""

RUNS_CODE = (
    RUNNERS
    | INTERPRETERS
    | words_of(
        """
        gawk tclsh make cmake ninja just npx pnpx bunx uvx pipx docker podman kubectl source . osascript pwsh
        powershell java gdb tmux screen expect
        """
    )
)
"""Programs for which no rule is offered: what they do is not in the words of the line."""

SHOWS_FILES = words_of(
    """
    cat head tail sed grep egrep fgrep rg less more nl tac cut sort uniq od xxd hexdump strings base64 awk diff wc
    source . paste fold fmt pr column comm join rev shuf zcat gzcat bzcat xzcat zgrep bat hd jq yq dd
    """
)
"""Programs whose arguments are files that they show; rules about `Read` reach into these."""

TAKES_FILES = words_of(
    """
    tar zip 7z gzip bzip2 xz zstd scp sftp rsync curl wget nc openssl gpg ed ex vi vim nvim nano emacs perl ruby
    """
)
"""Programs that send, pack or open files which an argument names; rules that deny `Read` reach into these, too."""

WRITES_ALL = words_of("rm rmdir unlink shred mv touch mkdir tee truncate")
"""Programs that change every file which an argument names; rules about `Edit` reach into these."""

WRITES_LAST = words_of("cp ln install")
"""Programs that write to their last argument and show the others."""

ONLY_READING = words_of(
    """
    cat head tail grep egrep fgrep rg ls tree stat du file wc diff cmp test [ [[ echo printf pwd less more nl tac
    cut od xxd hexdump strings md5sum sha1sum sha256sum realpath readlink basename dirname which type jq
    """
)
"""Programs that write no file which an argument names."""

_SEARCHES_BELOW = words_of("rg ag ack ugrep")
SHOWS_BELOW = _SEARCHES_BELOW | words_of("grep egrep fgrep zgrep diff find")
"""Programs that may show files below the current directory which no argument names."""

GIT_ONLY_READING = words_of("status log diff show blame ls-files grep add commit rev-parse check-ignore")
"""Subcommands of git that write no file of the working tree which an argument names."""

GIT_SHOWS = words_of("show log diff blame annotate grep cat-file archive whatchanged format-patch")
"""Subcommands of git that show files which an argument names, perhaps behind a revision and a colon."""

REMOVERS = words_of("rm rmdir unlink shred")

DESTRUCTIVE = REMOVERS | words_of(
    "dd mkfs truncate chmod chown chgrp mv kill pkill killall reboot shutdown halt crontab"
)
"""Programs for which no rule is offered: what they destroy does not come back."""

DESTRUCTIVE_GIT = words_of(
    "push reset clean checkout restore switch rebase stash gc prune filter-branch update-ref reflog branch tag"
)

_RECURSIVE = re.compile(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive$")
_SEES_HIDDEN = re.compile(r"-[a-z]*[u.]|--hidden|--unrestricted")


def looks_below(words: Sequence[str]) -> bool:
    """Roughly: True where a program with its arguments shows lines of files below the directories that it is given."""
    program, *arguments = words
    if program == "find":
        return any(word.startswith(("-exec", "-ok")) for word in arguments)
    return program in SHOWS_BELOW and (program in _SEARCHES_BELOW or any(map(_RECURSIVE.match, arguments)))


def sees_hidden(words: Sequence[str]) -> bool:
    """False where such a program passes over files and directories whose names begin with a dot."""
    return words[0] not in _SEARCHES_BELOW or any(map(_SEES_HIDDEN.match, words[1:]))
