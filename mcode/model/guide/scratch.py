"""The guide's one edit: a scratch file of its own, made, changed and removed, each with the user's approval."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from mcode.model.guide.flow import GO_ON
from mcode.model.guide.history import FIRST_WORDS, SCRATCH_NAME, SCRATCH_STEM, own_scratch, removed_name
from mcode.model.guide.reading import listed_paths, was_denied, was_stopped, went_wrong

if TYPE_CHECKING:
    from mcode.model.guide.flow import Flow
    from mcode.model.guide.history import Scratch
    from mcode.model.script import Reply

TRIES = 3
"""Names that are tried where files of that name turn up after all."""

_EXISTS = re.compile(r"(?i)\bexists?\b|read it first|not been read|appeared")
_ANSWERS = ("Tea or coffee? Tea.", "Tea or coffee? Coffee.")


def show_edit(flow: Flow) -> Reply:
    """Make the scratch file where there is none, then change one line of it."""
    if flow.begins:
        own = own_scratch(flow.view)
        return _look_for_names(flow) if own is None else _change(flow, own, _still_there(own))
    match flow.last.tool:
        case "Glob":
            return _after_glob(flow)
        case "Write":
            return _after_write(flow)
        case _:
            return _after_edit(flow)


def remove(flow: Flow) -> Reply:
    """Remove the scratch file, where the guide made one."""
    own = own_scratch(flow.view)
    if flow.begins:
        if own is None:
            return flow.say(f"I have no scratch file in this session, so there is nothing to remove.{GO_ON}")
        return flow.call(removal_words(own.name), "Bash", removal(own.name))
    return flow.say(after_removal(flow) + GO_ON)


def removal(name: str) -> dict[str, str]:
    """The arguments of the command that removes the scratch file."""
    return {"command": f"rm {name}", "description": "Remove the guide's scratch file"}


def removal_words(name: str) -> str:
    """What is said before the removal is asked."""
    return (
        f"I offer to remove my scratch file with `rm {name}`. Removing changes things, so mcode asks you; "
        "say no and the file stays."
    )


def after_removal(flow: Flow) -> str:
    """What is said when the removal has ended."""
    name = removed_name(flow.last) or "the scratch file"
    if went_wrong(flow.last):
        return flow.trouble(f"`{name}` is still there; you can remove it yourself at any time.")
    return f"`{name}` is gone: this directory is as I found it."


def _still_there(own: Scratch) -> str:
    return (
        f"My scratch file `{own.name}` is still there. I ask to change its last line; the panel shows the "
        "difference, and you decide:"
    )


def _look_for_names(flow: Flow) -> Reply:
    words = (
        "I change nothing of yours: I make a scratch file of my own. First I look whether its name is "
        "free. Then mcode will **ask you**: the panel shows the file and its whole content. Allow it once, or deny "
        "it; there is no wrong answer."
    )
    return flow.call(words, "Glob", {"pattern": f"{SCRATCH_STEM}*"}, without=_WITHOUT_GLOB)


_WITHOUT_GLOB = f"There is no `Glob` here to see whether a name is free, so I leave the edit out.{GO_ON}"


def _taken(flow: Flow) -> set[str]:
    """Names that are not free: those listed, and those at which a write has failed."""
    names: set[str] = set()
    for result in flow.results:
        if result.tool == "Glob" and not result.is_error:
            names |= {PurePath(path).name for path in listed_paths(result.text)}
        elif result.tool == "Write":
            names.add(PurePath(str(result.arguments.get("file_path", ""))).name)
    return {name for name in names if SCRATCH_NAME.match(name)}


def _free_name(taken: set[str]) -> str:
    number = 1
    while (name := f"{SCRATCH_STEM}{f'-{number}' if number > 1 else ''}.txt") in taken:
        number += 1
    return name


def _create(flow: Flow, words: str) -> Reply:
    name = _free_name(_taken(flow))
    content = f"The guide of mcode made this file. You can remove it at any time.\n{FIRST_WORDS}\n"
    arguments = {"file_path": name, "content": content}
    return flow.call(f"{words} I ask to create `{name}`:", "Write", arguments)


def _after_glob(flow: Flow) -> Reply:
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was written.") + GO_ON)
    taken = f"`{SCRATCH_STEM}.txt` exists already and may be yours, so I take another name."
    return _create(flow, taken if _taken(flow) else "The name is free.")


def _after_write(flow: Flow) -> Reply:
    if not flow.last.is_error:
        own = own_scratch(flow.view)
        words = "Created. Now I ask to change one line of it; this time the panel shows the difference:"
        if own is not None:
            return _change(flow, own, words)
    denied = was_denied(flow.last) or was_stopped(flow.last)
    tries = sum(1 for result in flow.results if result.tool == "Write")
    if not denied and _EXISTS.search(flow.last.text) and tries < TRIES:
        return _create(
            flow, "That name is taken after all, and mcode overwrites nothing that it has not read."
        )
    return flow.say(flow.trouble("No file was written.") + GO_ON)


def _change(flow: Flow, own: Scratch, words: str) -> Reply:
    wanted = next(answer for answer in _ANSWERS if answer != own.line)
    arguments = {"file_path": own.name, "old_string": own.line, "new_string": wanted}
    return flow.call(words, "Edit", arguments)


def _after_edit(flow: Flow) -> Reply:
    name = PurePath(str(flow.last.arguments.get("file_path", ""))).name
    if flow.last.is_error:
        return flow.say(flow.trouble(f"`{name}` is as it was.") + GO_ON)
    return flow.say(
        f"Done: one line of `{name}` changed, nothing else. An edit names the exact old text and the new one; if the "
        "file had changed since it was last read, mcode would have refused, so that nobody's work is written "
        "over. Say `show me an edit` for another, or `remove the scratch file`." + GO_ON
    )
