"""Names of files that hold credentials: reading one asks, wherever it lies, and what shows many files leaves it out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mcode.permissions.path_names import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DIRECTORIES = frozenset({".ssh", ".aws", ".gnupg", ".azure", ".oci"})
"""Whatever lies in them."""

_PAIRS = frozenset(
    {
        (".config", "gh"),
        (".config", "hub"),
        (".config", "glab-cli"),
        (".config", "git"),
        (".config", "gcloud"),
        (".config", "rclone"),
        (".config", "doctl"),
        (".docker", "config.json"),
        (".kube", "config"),
        (".cargo", "credentials"),
        (".cargo", "credentials.toml"),
        (".gem", "credentials"),
        (".composer", "auth.json"),
        (".codex", "auth.json"),
        (".m2", "settings.xml"),
        (".gradle", "gradle.properties"),
        (".streamlit", "secrets.toml"),
    }
)
"""A directory, and what directly in it holds them; elsewhere the second name is an everyday one."""

_FIRST_OF_PAIR = frozenset(first for first, _ in _PAIRS)
_NAME = re.compile(
    r"""
    \.env.* | .*\.env | \.dev\.vars | local\.settings\.json
    | .*\.(?:pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx?|ovpn|agekey|tfstate|tfstate\.backup|tfvars|kubeconfig)
    | id_[^.]* | id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?\..*(?<!\.pub) | .*_(?:rsa|dsa|ecdsa|ed25519)
    | [._]netrc | \.git-credentials | \.npmrc | \.yarnrc\.yml | \.pypirc | pip\.(?:conf|ini)
    | \.dockercfg | \.dockerconfigjson | \.vault-token | \.terraformrc | credentials\.tfrc\.json
    | \.pgpass | \.my\.cnf | \.mylogin\.cnf | \.htpasswd | \.s3cfg | \.boto | \.passwd-s3fs | rclone\.conf
    | \.smbcredentials | \.ftpconfig | sftp-config\.json | \.renviron | \.claude\.json
    | \.?credentials\.json | client_secrets?.*\.json | application_default_credentials\.json
    | service[-_]?account.*\.json | \.?secrets?\.(?:ya?ml|json|toml|ini|properties)
    """,
    re.VERBOSE,
)

WIDE_NAMES = (
    ".env*", "*.env", ".dev.vars", "local.settings.json", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.ppk", "*.jks",
    "*.keystore", "*.kdb", "*.kdbx", "*.ovpn", "*.agekey", "*.tfstate", "*.tfstate.backup", "*.tfvars", "*.kubeconfig",
    "id_*", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "?netrc", ".git-credentials", ".npmrc", ".yarnrc.yml", ".pypirc",
    "pip.conf", "pip.ini", ".dockercfg", ".dockerconfigjson", ".vault-token", ".terraformrc", "credentials.tfrc.json",
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".s3cfg", ".boto", ".passwd-s3fs", "rclone.conf",
    ".smbcredentials", ".ftpconfig", "sftp-config.json", ".Renviron", ".claude.json", "*credentials.json",
    "client_secret*.json", "service*account*.json", "secret.y*ml", "secrets.y*ml", "secret.json",
    "secrets.json", "secret.toml", "secrets.toml", "secret*.ini", "secret*.properties", ".secret*",
)  # fmt: skip
"""Patterns that fit every such name, and a few others: for what is too large to look at each file."""

WIDE_FOLDERS = tuple(sorted(_DIRECTORIES | _FIRST_OF_PAIR))
"""Directories in which such files lie."""

_OF_PROCESS = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/(?:environ|mem|fd/.*)")


@lru_cache(maxsize=8192)
def secret_part(path: str) -> str | None:
    """The part of a path that marks a file of secrets; None where nothing does. Templates count as well."""
    if _OF_PROCESS.fullmatch(path):
        return path
    names = folded(path).split("/")
    before = ""
    for name in names:
        if name in _DIRECTORIES:
            return name
        if (before, name) in _PAIRS:
            return f"{before}/{name}"
        before = name
    last = names[-1] if "..namedfork" not in names else names[names.index("..namedfork") - 1]
    return last if _NAME.fullmatch(last) else None


def hides_folder(path: str) -> bool:
    """True for a directory that is not looked into unasked; `id_tools` or `api.key` would say so of a file alone."""
    return secret_part(f"{path}/x") is not None or folded(path).rpartition("/")[2].startswith(".env")


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
        if is_secret or _NAME.fullmatch(folded(name)) or (needs_look and secret_part(path)):
            yield path
