"""Names of files and directories that are protected from unasked writing, and how names are compared."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

PROTECTED_DIRECTORIES = frozenset(
    {
        ".git",
        ".githooks",
        ".vscode",
        ".idea",
        ".husky",
        ".cargo",
        ".devcontainer",
        ".yarn",
        ".mvn",
        ".claude",
        ".mcode",
        ".ssh",
        ".aws",
        ".gnupg",
        ".vim",
        ".emacs.d",
    }
)
"""At any depth; whatever lies in them is protected too."""

PROTECTED_PAIRS = frozenset({(".config", "git"), (".config", "gh"), (".config", "fish"), (".config", "nvim")})
"""A directory and the protected one directly in it."""

PROTECTED_FILES = frozenset(
    {
        ".gitconfig",
        ".gitmodules",
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".profile",
        ".kshrc",
        ".cshrc",
        ".tcshrc",
        ".login",
        ".inputrc",
        ".xprofile",
        ".xinitrc",
        ".vimrc",
        ".exrc",
        ".gvimrc",
        ".emacs",
        ".nanorc",
        ".envrc",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        "bunfig.toml",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        ".lefthook.yaml",
        ".devcontainer.json",
        ".ripgreprc",
        ".mcp.json",
        ".claude.json",
        ".netrc",
        "_netrc",
        ".git-credentials",
    }
)
"""At any depth."""

_IGNORED_BY_FILE_SYSTEMS = dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)


def folded(text: str) -> str:
    """The text as a careless file system compares names: composed, without case and invisible characters."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.translate(_IGNORED_BY_FILE_SYSTEMS)).casefold()


@lru_cache(maxsize=8192)
def protected_part(path: str) -> str | None:
    """The part of a path that makes it protected, such as `.git` or `.config/git`; None where nothing does."""
    before = ""
    for name in folded(path).split("/"):
        if name in PROTECTED_DIRECTORIES or name in PROTECTED_FILES:
            return name
        if (before, name) in PROTECTED_PAIRS:
            return f"{before}/{name}"
        before = name
    return None
