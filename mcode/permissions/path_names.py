"""Names of files and directories that are protected from unasked writing, or whose reading shows secrets."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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

_SECRET_DIRECTORIES = frozenset({".ssh", ".aws", ".gnupg", ".azure", ".oci"})
_SECRET_PAIRS = frozenset(
    {(".config", "gh"), (".config", "gcloud"), (".docker", "config.json"), (".kube", "config")}
)
_FIRST_OF_PAIR = frozenset(first for first, _ in _SECRET_PAIRS)
_SECRET_NAME = re.compile(
    r"""
    \.env.* | .*\.(?:pem|key|p12|pfx|ppk|jks|keystore|kdbx)
    | id_[^.]* | id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?\..*(?<!\.pub)
    | [._]netrc | \.git-credentials | \.pgpass | \.my\.cnf | \.pypirc | \.htpasswd | \.s3cfg | \.boto
    | \.vault-token | \.terraformrc | credentials\.tfrc\.json
    | application_default_credentials\.json | service[-_]?account.*\.json
    """,
    re.VERBOSE,
)
_PROCESS_SECRETS = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/(?:environ|mem|fd/.*)")

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


@lru_cache(maxsize=8192)
def secret_part(path: str) -> str | None:
    """The part of a path that marks a file of secrets; None where nothing does. Templates count as well."""
    if _PROCESS_SECRETS.fullmatch(path):
        return path
    names = folded(path).split("/")
    before = ""
    for name in names:
        if name in _SECRET_DIRECTORIES:
            return name
        if (before, name) in _SECRET_PAIRS:
            return f"{before}/{name}"
        before = name
    last = names[-1] if "..namedfork" not in names else names[names.index("..namedfork") - 1]
    return last if _SECRET_NAME.fullmatch(last) else None


def names_its_secrets(path: str) -> bool:
    """True for a directory in which files are known for secrets by its name: under another name they are not."""
    return folded(path).rpartition("/")[2] in _FIRST_OF_PAIR


def secrets_among(paths: Iterable[str]) -> Iterator[str]:
    """Those of many relative paths that mark files of secrets."""
    folders: dict[str, tuple[bool, bool]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        known = folders.get(folder)
        if known is None:
            parts = folded(folder).split("/")
            is_secret = secret_part(f"{folder}/x") is not None
            known = folders[folder] = is_secret, parts[-1] in _FIRST_OF_PAIR
        is_secret, needs_look = known
        if is_secret or _SECRET_NAME.fullmatch(folded(name)) or (needs_look and secret_part(path)):
            yield path
