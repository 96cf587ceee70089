"""The phrases that the guide knows, and what it does for each beside the six steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcode.model.guide import demo, scratch, words
from mcode.model.guide.flow import GO_ON, Flow, listed, plural
from mcode.model.guide.history import own_scratch, step_reached
from mcode.model.guide.reading import (
    counts_by_path,
    cut_remark,
    found_matches,
    lines_by_language,
    listed_paths,
    read_lines,
    reason_of,
    total_of,
    was_denied,
    was_stopped,
    went_wrong,
)
from mcode.model.script import Reply

if TYPE_CHECKING:
    from mcode.model.script import RequestView

Answer = Callable[[Flow, "re.Match[str]"], Reply]

TODO_PATTERN = r"\b(TODO|FIXME)\b"
LINES_SHOWN = 5
WORDS_AT_MOST = 12
FILES_COUNTED = 5_000


def find_intent(text: str) -> tuple[Answer, re.Match[str]] | None:
    """What to do for a message, or None where no phrase is in it.

    A long message is a request to a model, whatever words are in it; only what a program writes may be long.
    """
    for pattern, answer in INTENTS if len(text.split()) <= WORDS_AT_MOST else ANY_LENGTH:
        found = pattern.search(text)
        if found is not None:
            return answer, found
    return None


def _todos(flow: Flow, _: re.Match[str]) -> Reply:
    if flow.begins:
        said = f"I search for the words TODO and FIXME: `Grep` with the pattern `{TODO_PATTERN}`."
        return flow.call(said, "Grep", {"pattern": TODO_PATTERN, "output_mode": "content"})
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was changed."))
    found = found_matches(flow.last.text)
    if not found:
        return flow.say(f"No line with TODO or FIXME in the files that `Grep` looks at.{GO_ON}")
    total, least = total_of(flow.last.text, len(found))
    files = {match.path for match in found}
    where = f" in {plural(len(files), 'file')}" if total == len(found) else ""
    shown = "\n".join(f"- `{one.path}:{one.line}` {_code(one.text)}" for one in found[:LINES_SHOWN])
    more = f"\n- and {total - LINES_SHOWN:,} more" if total > LINES_SHOWN else ""
    return flow.say(
        f"{'At least ' if least else ''}{plural(total, 'line')}{where}:\n\n{shown}{more}\n\nI only compare "
        f"words; a model could tell you which of them matter.{GO_ON}"
    )


def _lines(flow: Flow, _: re.Match[str]) -> Reply:
    if flow.begins:
        said = "I let `Grep` count: the pattern `^` is found once in every line. Then I add up."
        return flow.call(said, "Grep", {"pattern": "^", "output_mode": "count", "head_limit": FILES_COUNTED})
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was counted."))
    counts = counts_by_path(flow.last.text)
    if not counts:
        return flow.say(f"There is nothing to count: `Grep` found no text file with a line in it.{GO_ON}")
    rows = lines_by_language(counts)
    table = "\n".join(f"| {language} | {lines:,} | {files:,} |" for language, lines, files in rows[:12])
    rest = rows[12:]
    if rest:
        lines, files = sum(row[1] for row in rest), sum(row[2] for row in rest)
        table += f"\n| {plural(len(rest), 'more kind')} | {lines:,} | {files:,} |"
    remark = cut_remark(flow.last.text)
    partly = f" **This is only a part**, since the result is not whole:\n\n> {remark}" if remark else ""
    return flow.say(
        f"| language | lines | files |\n| --- | ---: | ---: |\n{table}\n\n{plural(sum(counts.values()), 'line')} in "
        f"{plural(len(counts), 'file')}. How counted: every line, blank ones and comments too, of the text files "
        "that `Grep` looks at, which leaves out hidden files and what .gitignore names; the language by the ending "
        f"of the file's name.{partly}{GO_ON}"
    )


def _list(flow: Flow, _: re.Match[str]) -> Reply:
    if flow.begins:
        return flow.call("I list all files: `Glob` with the pattern `**/*`.", "Glob", {"pattern": "**/*"})
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was listed."))
    found = listed_paths(flow.last.text)
    if not found:
        return flow.say(f"There is no file here.{GO_ON}")
    return flow.say(f"{listed(flow.last.text, found, 12)}{GO_ON}")


def _read(flow: Flow, found: re.Match[str]) -> Reply:
    name = found["name"].strip("`'\".,")
    if flow.begins:
        return flow.call(f"I ask for the beginning of `{name}`.", "Read", {"file_path": name, "limit": 40})
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was read."))
    lines = read_lines(flow.last.text)
    shown = "\n".join(f"    {line[:120]}" for line in lines[:LINES_SHOWN])
    return flow.say(
        f"I have {plural(len(lines), 'line')} of it; the first ones:\n\n{shown}\n\nI cannot tell you what it means. "
        f"A model has the same text in front of it now.{GO_ON}"
    )


def _changes(flow: Flow, _: re.Match[str]) -> Reply:
    if flow.begins:
        command = "git status --short --branch"
        said = f"I ask git: `{command}` only reads."
        return flow.call(said, "Bash", {"command": command, "description": "What changed"})
    if was_denied(flow.last) or was_stopped(flow.last):
        return flow.say(flow.trouble("Nothing was changed."))
    if went_wrong(flow.last):
        said = "git had no answer; most likely this directory is no git repository, or git is not installed."
        return flow.say(f"{said} No harm done, and this is what it said:\n\n> {reason_of(flow.last)}{GO_ON}")
    changed = [line for line in flow.last.text.splitlines() if line.strip() and not line.startswith("## ")]
    said = f"git names {plural(len(changed), 'changed file')}." if changed else "git names no changed file."
    return flow.say(f"{said} Its lines stand under the call above.{GO_ON}")


def _edit(flow: Flow, _: re.Match[str]) -> Reply:
    return scratch.show_edit(flow)


def _remove(flow: Flow, _: re.Match[str]) -> Reply:
    return scratch.remove(flow)


def _code(text: str) -> str:
    """A line of a file, short and in code quotes; backquotes in it would end them."""
    return f"`{text[:80].replace('`', ' ')}`" if text.strip() else ""


def _explain(text: str, after: str = GO_ON) -> Answer:
    def answer(flow: Flow, _: re.Match[str]) -> Reply:
        return flow.say(text + after)

    return answer


def summary(view: RequestView) -> str:
    """What the guide knows of the session, for a compaction: enough to go on from."""
    step = step_reached(view)
    own = own_scratch(view)
    where = f"Step {step} of 6 was the last." if step else "The first step is yet to come."
    file = f" The scratch file {own.name} is there." if own else ""
    return f"A session with mcode's offline guide, a script. {where}{file}"


def _summarise(flow: Flow, _: re.Match[str]) -> Reply:
    return flow.say(summary(flow.view))


def _phrases(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


ANY_LENGTH: tuple[tuple[re.Pattern[str], Answer], ...] = (
    (_phrases(r"\AI ran this in the shell myself:"), _explain(words.OWN_COMMAND)),
    (_phrases(r"\bsummar(y|i[sz]e)\b"), _summarise),
)

INTENTS = (
    *ANY_LENGTH,
    (_phrases(r"\A\W*(play|run|show( me)?|start)?\W*(the |a )?(demo|tour)\W*\Z"), demo.play),
    (_phrases(r"\baudit\b.{0,20}\bprogram\b|\bprogram\b.{0,20}\baudit\b"), demo.show_program),
    (_phrases(r"\baudit\b"), demo.show_direct),
    (_phrases(r"\btool search\b|\bdeferr(al|ed)\b|\bfind (a|the right) tool\b"), demo.show_search),
    (_phrases(r"\b(todo|fixme)s?\b"), _todos),
    (
        _phrases(
            r"\blines?\b.{0,30}\b(language|code|file type|ending)|\bloc\b|\bcount\b.{0,20}\blines?\b|\bhow many lines\b"
        ),
        _lines,
    ),
    (_phrases(r"\b(remove|delete|clean up|tidy up|rm)\b"), _remove),
    (_phrases(r"\b(edit|change a|write a|make a change)\b"), _edit),
    (_phrases(r"\A\s*(please )?(read|open|cat|show me|show) (the file )?(?P<name>\S*[./]\S+)\s*\Z"), _read),
    (_phrases(r"\b(git|what changed|diff)\b"), _changes),
    (_phrases(r"\b(who|what) are you|\bare you (an?|the|real)\b|\bchatbot\b"), _explain(words.IDENTITY)),
    (_phrases(r"\b(list|which files|what files|what is (in )?here|ls)\b"), _list),
    (
        _phrases(
            r"\b(api|key|keys)\b.{0,30}\b(set|need|get)|\b(real|other|local) model|\bapi key\b|\banthropic\b|base.url"
        ),
        _explain(words.REAL_MODEL, ""),
    ),
    (_phrases(r"\b(permissions?|approv\w*|allow|deny|safe|rules?)\b"), _explain(words.PERMISSIONS)),
    (_phrases(r"\b(context|tokens?|cost|window)\b"), _explain(words.CONTEXT)),
    (_phrases(r"\btools?\b"), _explain(words.TOOLS)),
    (
        _phrases(r"\b(sessions?|record(ed|ing)?|history|resume|where .{0,20}(stored|saved|kept))\b"),
        _explain(words.SESSION),
    ),
    (_phrases(r"\b(keys|esc|escape|interrupt|stop|shortcuts?)\b"), _explain(words.KEYS)),
    (_phrases(r"\A\W*(help|what can you do|menu|\?)\W*\Z|\bwhat can (you|i)\b"), _explain(words.MENU, "")),
    (_phrases(r"\A\W*(thanks?( you)?|bye|goodbye|exit|quit|done)\W*\Z"), _explain(words.FAREWELL, "")),
)
"""Phrase and answer, the first that is found counts."""
