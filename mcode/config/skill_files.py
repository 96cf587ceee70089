"""A command file or a skill as plain values, whichever agent it was written for."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.front_matter import read_front_matter
from mcode.config.model_names import model_named

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.front_matter import FrontMatter
    from mcode.config.settings import HookHandler

NAME = re.compile(r"[A-Za-z0-9_][\w.:-]{0,99}")
"""Names that can be typed behind a slash."""

_TOML = "toml"

EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""How hard a model may be asked to try."""

_SHELLS = ("", "bash", "sh")


@dataclass(frozen=True, slots=True)
class Home:
    """Whose a directory of such files is."""

    scope: str
    """`user` or `project`."""
    folder: Path | None
    """Of a project's: the directory that the file's family lies in, absolute and resolved. It fences its links."""
    dialect: str
    """`claude`, `gemini` or `codex`: how arguments and commands are written."""


@dataclass(frozen=True, slots=True)
class Skill:
    """Something that is invoked by its name and becomes a message to the model."""

    name: str
    """As typed behind the slash: `triage`, or `dir:name`."""
    kind: str
    """`command` for a file of commands, `skill` for a SKILL.md."""
    path: Path
    home: Home
    body: str
    description: str
    digest: str
    """SHA-256 of the whole file, in hexadecimal."""
    when_to_use: str = ""
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    """Names for the positional arguments."""
    allowed_tools: tuple[str, ...] = ()
    """Lists of rules, not yet split, that count in the turn which invokes it."""
    disallowed_tools: tuple[str, ...] = ()
    by_user: bool = True
    """It stands in the `/` menu."""
    by_model: bool = True
    """The model may invoke it, so its description is shown to the model."""
    paths: tuple[str, ...] = ()
    """Globs: the model hears of it once it reads a file that fits one; empty where it hears of it at once."""
    model: str = ""
    """Answers in the turn that invokes it; empty for the session's own."""
    fork: bool = False
    """It is the task of a sub-agent, whose answer stands in its place."""
    agent: str = ""
    """The kind of that sub-agent; empty for the one that is always there."""
    background: bool = False
    """That sub-agent works beside the conversation, and its answer comes later."""
    effort: str = ""
    """How hard the model tries in the turn that invokes it; empty for as ever."""
    hooks: tuple[HookHandler, ...] = ()
    """They run in the turn that invokes it."""
    unused: tuple[str, ...] = ()
    """What the file says that mcode does not do, in words."""
    problem: str = ""
    """What is wrong with the file; it works all the same."""

    @property
    def in_listing(self) -> str:
        """What the model reads of it before it is invoked."""
        return " ".join(f"{self.description} {self.when_to_use}".split())


def read_skill(name: str, kind: str, path: Path, home: Home, text: str) -> Skill:
    """Read one file, already decoded. Never fails: what cannot be understood becomes its problem."""
    digest = digest_of(text)
    if path.suffix == f".{_TOML}":
        return _from_toml(name, path, home, text, digest)
    front = read_front_matter(text)
    body = front.body.strip("\n")
    hooks, problems = _hooks(front, path, home)
    return Skill(
        name=name,
        kind=kind,
        path=path,
        home=home,
        body=body,
        description=front.text("description") or _first_paragraph(body),
        digest=digest,
        when_to_use=front.text("when_to_use"),
        argument_hint=front.text("argument-hint"),
        arguments=_names(front),
        allowed_tools=front.get("allowed-tools").listed,
        disallowed_tools=front.get("disallowed-tools").listed,
        by_user=not front.get("user-invocable").is_false,
        by_model=not front.get("disable-model-invocation").is_true,
        paths=tuple(glob for each in front.get("paths").listed for glob in _globs(each)),
        model=model_named(front.text("model")),
        fork=front.text("context").strip() == "fork",
        agent=front.text("agent"),
        background=front.get("background").is_true,
        effort=effort_named(front.text("effort")),
        hooks=hooks,
        unused=_unused(front),
        problem="; ".join(filter(None, (front.problem, *problems))),
    )


def digest_of(text: str) -> str:
    """SHA-256 of a file's text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def effort_named(written: str) -> str:
    """One of EFFORTS; empty for anything else."""
    return written.strip().lower() if written.strip().lower() in EFFORTS else ""


def _hooks(front: FrontMatter, path: Path, home: Home) -> tuple[tuple[HookHandler, ...], tuple[str, ...]]:
    if "hooks" not in front.values:
        return (), ()
    from mcode.config.file_hooks import hooks_in

    return hooks_in(front, path, home.scope, home.folder or path.parent)


def _unused(front: FrontMatter) -> tuple[str, ...]:
    effort, shell = front.text("effort"), front.text("shell").strip().lower()
    said = (
        [f"effort: {effort} (known are {', '.join(EFFORTS)})"] if effort and not effort_named(effort) else []
    )
    return (*said, *([f"shell: {shell} (its commands run in bash)"] if shell not in _SHELLS else []))


def _from_toml(name: str, path: Path, home: Home, text: str, digest: str) -> Skill:
    import tomllib

    problem, body, description = "", "", ""
    try:
        table = tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # the parser also stumbles over numbers and nesting without end
        problem = f"it is no valid TOML ({error})"
    else:
        prompt, said = table.get("prompt"), table.get("description")
        body = prompt if isinstance(prompt, str) else ""
        description = said if isinstance(said, str) else ""
        problem = "" if body else "it has no `prompt`"
    return Skill(
        name=name,
        kind="command",
        path=path,
        home=home,
        body=body.strip("\n"),
        description=description or _first_paragraph(body),
        digest=digest,
        problem=problem,
    )


def _names(front: FrontMatter) -> tuple[str, ...]:
    """Names of arguments: a list, or words."""
    value = front.get("arguments")
    words = value.items or tuple(re.split(r"[\s,]+", value.text))
    return tuple(word for word in words if re.fullmatch(r"[A-Za-z_]\w*", word))


def _globs(written: str) -> list[str]:
    """Globs between commas; those in braces belong to theirs."""
    return [each.strip() for each in re.split(r",(?![^{]*\})", written) if each.strip()]


def _first_paragraph(body: str) -> str:
    """The first lines of prose, for a file that does not describe itself."""
    for paragraph in re.split(r"\n[ \t]*\n", body):
        words = " ".join(line.strip() for line in paragraph.strip().splitlines() if not line.startswith("#"))
        if words:
            return words
    return ""
