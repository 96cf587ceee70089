"""Where the user's files are: mcode's own state, and another agent's files that are read in place."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME_LIMIT = 200
"""Characters of a munged directory name; a longer one is cut and made unique by a hash."""

CLAUDE_MANAGED = Path(
    "/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code"
)


@dataclass(frozen=True, slots=True)
class Places:
    """The directories that hold the user's and the administrator's files. All absolute."""

    home: Path
    state: Path
    """mcode's own directory: `$MCODE_CONFIG_DIR` or `~/.mcode`."""
    claude: Path
    """Read, never written: `$CLAUDE_CONFIG_DIR` or `~/.claude`."""
    managed: tuple[Path, Path] = (Path("/etc/mcode"), CLAUDE_MANAGED)
    """Directories of the administrator: mcode's own, which is the stronger one, and the other agent's."""

    @property
    def settings_file(self) -> Path:
        return self.state / "settings.json"

    @property
    def projects(self) -> Path:
        return self.state / "projects"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def history_file(self) -> Path:
        return self.state / "history.jsonl"

    @property
    def written_rules_file(self) -> Path:
        """Which allow rules of project files mcode itself wrote, by the user's answer."""
        return self.state / "written-rules.json"

    def project_directory(self, cwd: Path) -> Path:
        """Where the sessions of a working directory are kept."""
        name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(cwd))
        if len(name) > NAME_LIMIT:
            import hashlib  # loads OpenSSL, for a case that hardly ever comes

            mark = hashlib.sha256(str(cwd).encode("utf-8", "surrogateescape")).hexdigest()[:16]
            name = f"{name[: NAME_LIMIT - 17]}-{mark}"
        return self.projects / name


def find_places(environment: Mapping[str, str]) -> Places:
    """Find the directories from the process's own environment, and from nothing else.

    No settings file and no `.env` can move them. Raises UsageError where no home directory is known or a
    variable holds a relative path, which would let the folder that mcode is started in pose as the user's.
    """
    home = _home(environment)
    return Places(
        home=home,
        state=_directory(environment, "MCODE_CONFIG_DIR", home) or home / ".mcode",
        claude=_directory(environment, "CLAUDE_CONFIG_DIR", home) or home / ".claude",
    )


def _home(environment: Mapping[str, str]) -> Path:
    named = environment.get("HOME", "")
    if named.startswith("/"):
        return Path(named)
    try:
        return _home_of_account()
    except RuntimeError:
        raise UsageError(
            "No home directory is known: HOME is not set and this user has no entry in the user database. "
            "Nothing was read or written. Set HOME to an absolute path and start again."
        ) from None


def _home_of_account() -> Path:
    import os
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise RuntimeError from None


def _directory(environment: Mapping[str, str], name: str, home: Path) -> Path | None:
    value = environment.get(name, "")
    if value == "":
        return None
    path = home / value[2:] if value.startswith("~/") else Path(value)
    if not path.is_absolute():
        raise UsageError(
            f"{name} is {value!r}, which is not an absolute path. The user's settings are never looked for "
            f"relative to the folder mcode is started in. Nothing was read. Set {name} to an absolute path "
            f"or remove it."
        )
    return path
