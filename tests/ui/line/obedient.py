"""A scripted model that does what the message says: `think 2; stream 300; ask; work 60`, one step after the other.

`think` keeps the model silent for so many seconds, `work` sleeps in a command that a rule allows, and `gate` runs one
that ends when the test opens the gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.script import RequestView, Script, reply, use

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.model.script import Reply

WORK = "sleep 60"
"""A command that runs without a question; `Terminal` sets the rule."""

GATE = "sh gate.sh"
"""A command that runs until `Terminal.open_gate` is called; `Terminal` sets the rule."""

ASKED = "touch deployed"
"""The command that is asked about."""

PROGRAM = """// writes some files
const numbers = Array.from({length: COUNT}, (_, n) => n + 1);
const all = await Promise.all(numbers.map(n => tools.Write({file_path: `out/${n}.txt`, content: `number ${n}\\n`})));
return all.filter(r => r.ok).length;
"""
"""A program of so many writes, each of which is asked about."""

HOSTILE = (
    "EVIL\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\\x1bPq\x1b\\\x1b_x\x1b\\\x1b[2J\x1b[6n\x1bc"
    "\x9b2J\x9d0;x\x9c\x07\x08\r\x00\u202e\u200b\U000e0041\x1b]"
)
"""What would steer a terminal, reorder or hide text."""

QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [
            {"label": "red", "description": "as a rose"},
            {"label": "blue", "description": "as the sea"},
        ],
    },
    {
        "question": "Which sizes?",
        "header": "Sizes",
        "multiSelect": True,
        "options": [{"label": size, "description": f"size {size}"} for size in ("S", "M", "L")],
    },
]


def obedient_script() -> Script:
    """Every reply is worked out from the user's last message and from how much of it is done."""
    return Script(fallback=_obey, name="obedient")


def _obey(view: RequestView) -> Reply:
    steps = [step.strip() for step in view.user_parts[-1].split(";")]
    parts: list[str | JsonObject] = []
    delay = 0.0
    done = len(view.turn_results)
    for step in steps:
        calls = _calls(step)
        if calls:
            if done:
                done -= len(calls)
                parts.clear()
                delay = 0.0
                continue
            return reply(*parts, *calls, pace=0.001, chunk=20, delay=delay)
        if step.startswith("think "):
            delay = float(step.removeprefix("think "))
        elif not done:
            parts.append(_text(step))
    return reply(*parts or ["Done."], pace=0.001, chunk=20, delay=delay)


def _calls(step: str) -> list[JsonObject]:
    match step.split():
        case ["work"]:
            return [use("Bash", {"command": WORK})]
        case ["gate"]:
            return [use("Bash", {"command": GATE})]
        case ["ask"]:
            return [use("Bash", {"command": ASKED})]
        case ["program", count]:
            return [use("run_code", {"code": PROGRAM.replace("COUNT", count)})]
        case ["ask", "hostile"]:
            return [use("Bash", {"command": f"echo {HOSTILE}"})]
        case ["ask", "two"]:
            return [use("Read", {"file_path": path}) for path in ("/etc/hosts", "/etc/passwd")]
        case ["question"]:
            return [use("AskUserQuestion", {"questions": QUESTIONS})]
        case _:
            return []


def _text(step: str) -> str:
    match step.split():
        case ["stream", count]:
            return "".join(f"line {number:04d} of the answer\n" for number in range(1, int(count) + 1))
        case ["hostile"]:
            return f"{HOSTILE}\n{HOSTILE}\n"
        case _:
            return f"You said: {step}"
