"""The six steps that show a newcomer around. Each is one turn: words, a real call, and what to make of its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.guide import scratch, words
from mcode.model.guide.flow import GO_ON, listed, plural
from mcode.model.guide.history import STEPS, known_files, own_scratch
from mcode.model.guide.reading import file_worth_reading, listed_paths, read_lines

if TYPE_CHECKING:
    from mcode.model.guide.flow import Flow
    from mcode.model.script import Reply

LINES_READ = 20
COMMAND = "ls -la | head -n 12"

TITLES = (
    "looking around",
    "reading a file",
    "running a command",
    "an edit that you decide on",
    "a plan, and where to look",
    "tidying up, and what comes next",
)


def take_step(flow: Flow, number: int) -> Reply:
    """Begin step `number` (from 1) or go on with it."""
    flow.heading = heading(number)
    return (_look, _read, _run, scratch.show_edit, _plan, _finish)[number - 1](flow)


def heading(number: int) -> str:
    """The title of a step; `history.step_reached` finds it again."""
    return f"**Step {number} of {STEPS}: {TITLES[number - 1]}.**"


def _look(flow: Flow) -> Reply:
    if flow.begins:
        return flow.call(
            "I ask for one call: `Glob` with the pattern `*`, which lists the files at the top of "
            "this directory. Listing and reading here need no permission, so it should run at once.",
            "Glob",
            {"pattern": "*"},
        )
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was listed.") + GO_ON)
    found = listed_paths(flow.last.text)
    if not found and len(flow.results) == 1:
        return flow.call("No file at the top. I look further down:", "Glob", {"pattern": "**/*"})
    seen = (
        f"{listed(flow.last.text, found)}"
        if found
        else "There is no file here at all, so there is nothing that could break."
    )
    return flow.say(
        f"{seen}\n\nThat was the whole idea of an agent: the model asks for a call, by name and arguments; mcode "
        "checks it against your rules, runs it, and hands the result back. You see each call as it happens. "
        f"`/tools` lists what a model may ask for.{GO_ON}"
    )


def _read(flow: Flow) -> Reply:
    if flow.begins:
        files = known_files(flow.view)
        if not files:
            return flow.call("I list the files once more, to choose one.", "Glob", {"pattern": "**/*"})
        return _read_one(flow, files)
    if flow.last.tool == "Glob":
        if flow.last.is_error:
            return flow.say(flow.trouble("Nothing was read.") + GO_ON)
        return _read_one(flow, listed_paths(flow.last.text))
    name = str(flow.last.arguments.get("file_path", "the file"))
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was read.") + GO_ON)
    lines = read_lines(flow.last.text)
    if not lines:
        return flow.say(f"`{name}` is empty; so is what a model would know of it.{GO_ON}")
    first = next((line.strip() for line in lines if line.strip()), "")
    shown = f" It begins with `{first[:80].replace('`', ' ')}`." if first else ""
    return flow.say(
        f"I have the first {plural(len(lines), 'line')} of `{name}`.{shown} What a model reads stays in the "
        "conversation and is sent again with every request: that is its context, and it is what you pay for. "
        f"`/context` shows how it adds up (with me, nothing is sent).{GO_ON}"
    )


def _read_one(flow: Flow, files: tuple[str, ...]) -> Reply:
    chosen = file_worth_reading(files)
    if chosen is None:
        return flow.say(
            f"There is no file here that I would open unasked (a readme, a source, a text), so I skip the "
            f"reading. `read NAME` makes me read one of yours.{GO_ON}"
        )
    return flow.call(
        f"I ask for the first {LINES_READ} lines of `{chosen}`.",
        "Read",
        {"file_path": chosen, "limit": LINES_READ},
    )


def _run(flow: Flow) -> Reply:
    if flow.begins:
        return flow.call(
            f"The strongest tool is the shell. I ask for `{COMMAND}`, which only reads. If mcode **asks you**, the "
            "panel shows the whole command and why it asks: allow it once, or deny it. Nobody minds a no.",
            "Bash",
            {"command": COMMAND, "description": "List the directory"},
        )
    if flow.last.is_error:
        return flow.say(flow.trouble("Nothing was changed.") + GO_ON)
    return flow.say(
        f"It printed {plural(len(flow.last.text.splitlines()), 'line')}. What decided that it may run stands on its "
        "line: you, a rule, or the mode. A rule that you choose to keep spares you the question next time. Esc stops "
        f"a command that takes too long.{GO_ON}"
    )


def _plan(flow: Flow) -> Reply:
    if flow.begins and "TodoWrite" in flow.view.tool_names:
        return flow.call(
            "For longer work a model keeps a list of steps, so that you see where it is. I write "
            "ours with `TodoWrite`; it changes nothing but the list on your screen.",
            "TodoWrite",
            {"todos": _todos()},
        )
    before = ""
    if not flow.begins and flow.last.is_error:
        before = flow.trouble("There is no list then.") + "\n\n"
    return flow.say(f"{before}Four things to know:\n\n{_THINGS}{GO_ON}")


_THINGS = """\
- `/context`: what the conversation holds and what each part of it costs
- `/permissions`: which rules decide, and where each comes from
- Esc: stops whatever runs, at any moment; what was finished is kept
- this session is recorded, line by line, under `~/.mcode/projects/`; ask me about `the session` for more"""


def _todos() -> list[dict[str, str]]:
    states = ("completed",) * 4 + ("in_progress", "pending")
    return [
        {"content": title[0].upper() + title[1:], "status": state, "activeForm": title[0].upper() + title[1:]}
        for title, state in zip(TITLES, states, strict=True)
    ]


def _finish(flow: Flow) -> Reply:
    own = own_scratch(flow.view)
    if flow.begins:
        if own is None:
            return flow.say(f"I left nothing behind.\n\n{words.REAL_MODEL}")
        return flow.call(f"{scratch.removal_words(own.name)}", "Bash", scratch.removal(own.name))
    return flow.say(f"{scratch.after_removal(flow)}\n\n{words.REAL_MODEL}")
