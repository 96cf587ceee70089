"""/trust: what this folder may grant itself, and the user's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.near_words import unknown_word
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural
from mcode.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext, TrustControl
    from mcode.config.trust import Item
    from mcode.jsontext import JsonObject

_DETAIL = """\
Until you trust what a folder's files bring, mcode starts no hook, server or helper of it, and none of its allow \
rules, variables and settings count; its deny and ask rules always do. `yes` trusts exactly what is listed, `no` \
leaves it off without asking again until it changes, `forget` takes back every answer about this folder."""

ANSWERS = {"yes": "trust", "no": "never"}


async def _trust(context: CommandContext, arguments: Arguments) -> CommandResult:
    (word,) = arguments.at_most(1, f"/trust {TRUST.usage}") or ("",)
    control = context.around.trust
    if control is None:
        raise UsageError("This session has no folder whose trust could be shown or changed.")
    if word in ANSWERS:
        said = await control.answer(ANSWERS[word])
        return CommandResult(said, {"said": said, **_data(control)})
    if word == "forget":
        said = await control.forget()
        return CommandResult(said, {"said": said, **_data(control)})
    if word:
        raise unknown_word(
            "/trust", word, (*ANSWERS, "forget"), f"/trust {TRUST.usage}", "nothing was changed"
        )
    return CommandResult(_text(control), _data(control))


def _text(control: TrustControl) -> str:
    parts: list[str] = []
    granted, refused, page = control.granted(), control.refused(), control.page()
    if granted:
        parts.append(f"Trusted here: {plural(len(granted), 'item')}\n{_lines(granted)}")
    if refused:
        parts.append(f"Refused here, until they change: {plural(len(refused), 'item')}\n{_lines(refused)}")
    if page:
        parts.append(f"{page}\n\n/trust yes trusts exactly this; /trust no leaves it off until it changes.")
    if not parts:
        parts.append("The files of this folder ask for nothing that needs your trust.")
    elif granted or refused:
        parts.append("/trust forget takes these answers back.")
    return "\n\n".join(parts)


def _lines(items: Sequence[Item]) -> str:
    return "\n".join(f"  {_line(item)}" for item in items)


def _line(item: Item) -> str:
    facts = "; ".join(f"{label}: {text}" for label, text in item.facts.items() if label != "file")
    return f"{item.kind}  {item.key}  {facts}".rstrip()


def _data(control: TrustControl) -> JsonObject:
    return {
        "trusted": [_as_object(item) for item in control.granted()],
        "refused": [_as_object(item) for item in control.refused()],
        "waiting": [_as_object(item) for item in control.waiting()],
    }


def _as_object(item: Item) -> JsonObject:
    return {
        "kind": item.kind,
        "key": item.key,
        "folder": str(item.folder),
        "hash": item.digest,
        "facts": dict(item.facts),
    }


TRUST = Command(
    "trust",
    "what this folder's files may grant, and your word on it",
    _trust,
    "[yes | no | forget]",
    complete=lambda _: ("yes", "no", "forget"),
    detail=_DETAIL,
)
