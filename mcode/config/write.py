"""Writing mcode's own settings files: one rule more, one value changed, everything else as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.plain_file import reason, resolve
from mcode.config.written_rules import rule_mark, with_mark, without_mark
from mcode.errors import StorageError, UsageError
from mcode.files import private_directory, replace_file, update_json
from mcode.jsontext import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.jsontext import JsonObject, JsonValue

OWN, LOCAL_NAME = ".mcode", "settings.local.json"

IGNORED_BY_GIT = """\
# Written by mcode: personal settings stay out of the repository.
/.gitignore
/settings.local.json*
/.settings.local.json*
"""


def add_rule(path: Path, behavior: str, rule: str, *, places: Places) -> str:
    """Add a permission rule to a settings file of mcode's, once; whatever else stands in it is kept.

    `behavior` is `allow`, `ask` or `deny`. A rule for a project's local settings is recorded in the user's
    directory first, since only recorded allow rules count there. Safe against other processes doing the same.
    Returns what the user should know, mostly nothing (""): a damaged record is put aside, and rules recorded in
    it are asked about again. Raises UsageError for a file of another agent, StorageError where the file cannot be
    read or written; the file is then unchanged.
    """
    path = _writable(path, places)

    def change(content: JsonObject) -> JsonObject:
        permissions = _member(content, "permissions", path)
        rules = as_list(permissions.get(behavior, []))
        if rules is None:
            raise _wrong_kind(path, f"permissions.{behavior}", "a list", permissions[behavior])
        if rule in rules:
            return content
        return {**content, "permissions": {**permissions, behavior: [*rules, rule]}}

    notices: list[str] = []
    private_directory(places.state)
    if _is_local(path):
        project, mark = resolve(path.parent.parent), rule_mark(behavior, rule)
        update_json(
            places.written_rules_file,
            lambda record: with_mark(record, project, mark),
            on_unreadable=notices.append,
        )
        _keep_out_of_git(path.parent)
    update_json(path, change)
    return " ".join(notices)


def remove_rule(path: Path, behavior: str, rule: str, *, places: Places) -> bool:
    """Take a permission rule out of a settings file of mcode's; False where it does not stand there.

    What else stands in it is kept. A project's local rule counts no longer, should its file get it back from elsewhere.
    Raises as `add_rule` does.
    """
    path = _writable(path, places)
    found = False

    def change(content: JsonObject) -> JsonObject:
        nonlocal found
        permissions = _member(content, "permissions", path)
        rules = as_list(permissions.get(behavior, [])) or []
        found = rule in rules
        if not found:
            return content
        return {
            **content,
            "permissions": {**permissions, behavior: [each for each in rules if each != rule]},
        }

    private_directory(places.state)
    if _is_local(path):
        project, mark = resolve(path.parent.parent), rule_mark(behavior, rule)
        update_json(places.written_rules_file, lambda record: without_mark(record, project, mark))
    update_json(path, change)
    return found


def set_value(path: Path, key_path: Sequence[str], value: JsonValue, *, places: Places) -> None:
    """Set one value, such as ("mcode", "ui", "bell"); None removes the key. Raises as `add_rule` does."""
    path = _writable(path, places)

    def change(content: JsonObject) -> JsonObject:
        return _with_value(content, tuple(key_path), value, path)

    private_directory(places.state)
    update_json(path, change)


def _with_value(content: JsonObject, key_path: tuple[str, ...], value: JsonValue, path: Path) -> JsonObject:
    name, *rest = key_path
    if rest:
        return {**content, name: _with_value(_member(content, name, path), tuple(rest), value, path)}
    if value is None:
        return {key: one for key, one in content.items() if key != name}
    return {**content, name: value}


def _member(content: JsonObject, name: str, path: Path) -> JsonObject:
    member = as_object(content.get(name, {}))
    if member is None:
        raise _wrong_kind(path, name, "an object", content[name])
    return member


def _wrong_kind(path: Path, key: str, expected: str, value: JsonValue) -> StorageError:
    return StorageError(
        f"{path} was not changed: {key} is {kind_of(value)}, expected {expected}. Correct the file and try again."
    )


def _writable(path: Path, places: Places) -> Path:
    """The file to write: the target of a link of the user's own. Raises UsageError or StorageError."""
    if ".claude" in path.parts or places.claude in path.parents:
        raise UsageError(
            f"{path} belongs to another agent and is never written by mcode. Nothing was changed."
        )
    if places.state in path.parents:
        try:
            return resolve(path)
        except OSError as error:
            raise StorageError(f"{path} was not written: {reason(error)}.") from error
    if path.is_symlink() or path.parent.is_symlink():
        raise StorageError(
            f"{path} was not written: it is reached through a link, and a project's link could lead anywhere. "
            "Replace the link by a plain file or directory and try again."
        )
    return path


def _is_local(path: Path) -> bool:
    return path.name == LOCAL_NAME and path.parent.name == OWN


def _keep_out_of_git(directory: Path) -> None:
    """Let git ignore the personal settings, unless the directory says itself what is ignored."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{directory} could not be created: {reason(error)}. No rule was added; allow writing there and try again."
        ) from error
    ignore = directory / ".gitignore"
    if not ignore.is_symlink() and not ignore.exists():
        replace_file(ignore, IGNORED_BY_GIT.encode(), mode=0o644)
