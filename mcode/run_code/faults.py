"""Why a program failed, in words for the model: each kind its own, with the place in the model's own text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.run_code.records import Ending

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.run_code.limits import Limits
    from mcode.run_code.program_text import ProgramText
    from mcode.run_code.records import Fault, ProgramRecord

_FRAME = re.compile(r"\s*at (?:(\S[^(]*?) \()?<input>:(\d{1,9}):(\d{1,9})\)?")
_OWN_LINES = 100_000
"""From this line on a frame is the prelude's (see `worker.py`)."""

_FRAMES_SHOWN = 4
_FRAMES_READ = 60
_LINE_SHOWN = 160
_MISSING = re.compile(r"'?(\w+)'? is not defined")

_ABSENT = {
    "require": "there are no modules; everything a program can use is in `tools` and in the language itself",
    "module": "there are no modules; `return` the result",
    "exports": "there are no modules; `return` the result",
    "process": "there is no process or environment here; use a tool, such as tools.Bash",
    "fs": "programs have no file access of their own; use tools.Read, tools.Write, tools.Glob",
    "fetch": "programs have no network of their own; use a tool",
    "XMLHttpRequest": "programs have no network of their own; use a tool",
    "Buffer": "there is no Buffer; work with strings",
    "Intl": "there is no Intl; format by hand",
    "TextEncoder": "there is no TextEncoder; work with strings",
    "TextDecoder": "there is no TextDecoder; work with strings",
    "URL": "there is no URL class; work with the string",
    "URLSearchParams": "there is no URLSearchParams; use encodeURIComponent",
    "setInterval": "there is no setInterval; use a loop with `await sleep(milliseconds)`",
    "setImmediate": "there is no setImmediate; use `await sleep(0)`",
    "window": "this is not a browser",
    "document": "this is not a browser",
    "__dirname": "programs have no files of their own; paths are those of the working directory",
}


def explain(record: ProgramRecord, text: ProgramText, limits: Limits) -> str:
    """What went wrong and what to do about it; empty where nothing did."""
    fault = record.fault
    if fault is None:
        return ""
    match fault.kind:
        case Ending.SYNTAX:
            return "\n".join(_syntax(fault, record, text))
        case Ending.EXCEPTION:
            return "\n".join(_exception(fault, record, text))
        case _:
            return _other(fault, limits)


def _other(fault: Fault, limits: Limits) -> str:
    match fault.kind:
        case Ending.CPU_LIMIT:
            detail = f" ({fault.message})" if fault.message else ""
            return (
                f"The program was ended at its limit of {limits.cpu:g} s of CPU time{detail}; waiting for calls does "
                "not count. Look for a loop that never ends or a costly regular expression, or split the work."
            )
        case Ending.MEMORY_LIMIT:
            return (
                f"The program was ended at its limit of {limits.memory // 1024**2} MB of memory. "
                "Keep less at a time: handle each result as it comes and keep only what is needed."
            )
        case Ending.STALLED:
            return (
                "The program waits for something that can never come: no call is open and no timer is set. "
                "Look for a promise that nothing resolves."
            )
        case Ending.CALL_LIMIT:
            return (
                f"The program was ended at its limit of {limits.calls} calls. "
                "Ask for more with each call, or go on in another program."
            )
        case Ending.TOO_LARGE:
            return f"The program is too large: {fault.message}. Filter before returning, or write a file with a tool."
        case Ending.CANCELLED:
            return "The program was cancelled when the user stopped the turn."
        case Ending.STOPPED_BY_USER:
            return f"The user stopped the program: {fault.message or 'no reason was given'}. Ask before going on."
        case Ending.STOPPED_BY_HOOK:
            return f"A hook stopped the program: {fault.message}"
        case Ending.WORKER_DIED:
            return (
                f"The engine's process died ({fault.message}). That is not an error in the program's logic as such; "
                "deep recursion or exhausted memory can cause it. The next program gets a new process."
            )
        case _:
            return fault.message


def _syntax(fault: Fault, record: ProgramRecord, text: ProgramText) -> Iterable[str]:
    if text.as_shell:
        yield _shell_form(text)
        return
    line, column = next(iter(_places(fault, record, text)), (0, 0, ""))[:2]
    yield f"SyntaxError: {fault.message}; nothing of the program ran."
    if line > text.count:
        yield f"The text ends too early, after line {text.count}: a bracket, a brace or a quote is not closed."
        line, column = text.count, len(text.line(text.count)) + 1
    yield from _shown_place(text, line, column)
    source = text.line(line).strip()
    if re.match(r"(?:import|export)\b", source):
        yield f"There are no modules in programs; {_ABSENT['require']}."
    elif "command:" in source:
        yield (
            "For a shell command with quotes or variables in it write "
            "tools.Bash({command: sh`grep -n ${text} ${file}`}); sh quotes what is put in."
        )
    elif text.looks_like_typescript:
        yield "Programs are plain JavaScript: leave the TypeScript types out."


def _exception(fault: Fault, record: ProgramRecord, text: ProgramText) -> Iterable[str]:
    missing = _MISSING.match(fault.message) if fault.name == "ReferenceError" else None
    if missing and text.as_shell and missing[1] == text.code.split()[0]:
        yield _shell_form(text)
        return
    thrown = f"{fault.name}: {fault.message}" if fault.name else f"The program threw a value: {fault.message}"
    yield thrown
    places = list(_places(fault, record, text))
    if places:
        yield from _shown_place(text, *places[0][:2])
        for line, column, name in places[1:_FRAMES_SHOWN]:
            yield f"  called from line {line}, column {column}{f' ({name})' if name else ''}"
    if missing and missing[1] in _ABSENT:
        yield f"Hint: {_ABSENT[missing[1]]}."
    elif "could not load module" in fault.message:
        yield f"Hint: {_ABSENT['require']}."


def _shell_form(text: ProgramText) -> str:
    return f"This is a shell command, not JavaScript. To run it from a program: {text.as_shell}"


def _places(fault: Fault, record: ProgramRecord, text: ProgramText) -> Iterable[tuple[int, int, str]]:
    """Line, column and function of the program's own frames, innermost first."""
    shifted, start = text.place(record.shift[0])
    for found in filter(None, map(_FRAME.match, fault.stack.split("\n", _FRAMES_READ)[:_FRAMES_READ])):
        line, byte = int(found[2]) - 1, int(found[3])
        if not 1 <= line < _OWN_LINES - 1:
            continue
        if line == shifted and byte >= start:
            byte = max(start, byte - record.shift[1])
        column = text.column(line, byte)
        name = found[1] or ""
        yield line, column, "" if name.startswith("<") else name


def _shown_place(text: ProgramText, line: int, column: int) -> Iterable[str]:
    """The source line with a mark under the column, cut around it where it is long."""
    if line < 1:
        return
    source = text.line(line).replace("\t", " ").rstrip("\r")
    start = max(0, min(column - 1 - _LINE_SHOWN // 2, len(source) - _LINE_SHOWN))
    number = f"{line} | "
    yield f"at line {line}, column {column}:"
    yield f"  {number}{source[start : start + _LINE_SHOWN]}"
    yield f"  {' ' * (len(number) + max(0, column - 1 - start))}^"
