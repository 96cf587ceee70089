"""/programs: what programs have run, one of them line by line, keeping one, and whether the model writes any."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import Status
from mcode.commands.near_words import did_you_mean, unknown_word
from mcode.commands.program_tables import as_object, exported, program_list, program_page
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import table
from mcode.errors import StorageError, UsageError
from mcode.files import replace_file
from mcode.run_code.audit_read import read_audits
from mcode.run_code.kept_programs import (
    find_program,
    keep_program,
    kept_programs,
    programs_directory,
    read_arguments,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.commands.host import CommandContext
    from mcode.run_code.audit_read import AuditedProgram

USAGE = "[NUMBER | export NUMBER [FILE] | save NAME [NUMBER] | mode [off|beside|first] | stop | cancel CALL | kept]"

_WORDS = ("export", "save", "mode", "stop", "cancel", "kept")

_MODES = {
    "off": "the model writes no programs",
    "beside": "the model may write programs, and call every tool directly as well",
    "first": "what programs can call, programs alone call",
}


async def _programs(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.words
    match words:
        case ():
            return await _list(context)
        case ("mode",):
            mode = context.agent.programs.mode
            return CommandResult(f"Programs mode {mode}: {_MODES[mode]}.", {"mode": mode})
        case ("mode", mode):
            return _switch(context, mode)
        case ("save", name):
            return await _save(context, name, "")
        case ("save", name, number):
            return await _save(context, name, number)
        case ("export", number):
            program = await _find(context, number)
            return CommandResult(jsontext.dump(exported(program)), exported(program))
        case ("export", number, file):
            return await _export(context, number, file)
        case ("kept",):
            return await _kept(context)
        case ("stop",):
            return await _stop(context)
        case ("cancel", call):
            return _cancel(context, call)
        case (number,):
            program = await _find(context, number)
            return CommandResult(program_page(program), exported(program))
        case _:
            raise unknown_word("/programs", arguments.rest, _WORDS, f"/programs {USAGE}")


async def run_kept(context: CommandContext, name: str, arguments: Arguments) -> CommandResult | None:
    """Run a kept program for `/NAME key=value ...`; None where there is none of the name."""
    program = await asyncio.to_thread(find_program, _directory(context), name)
    if program is None:
        return None
    code = program.with_arguments(read_arguments(arguments.words))
    outcome = await context.agent.programs.run_kept(name, code, program.needs)
    failed = outcome.status is not Status.OK
    data = {"status": str(outcome.status), "data": outcome.data}
    return CommandResult(outcome.text, data, failed=failed, on_card=True)


def kept_names(context: CommandContext) -> Sequence[tuple[str, str]]:
    """Names under which the user keeps programs that `/NAME` runs, each with its title; reads the disk."""
    programs = kept_programs(_directory(context))
    return [(each.name, each.title) for each in programs if context.registry.find(each.name) is None]


async def _audits(context: CommandContext) -> tuple[AuditedProgram, ...]:
    return await asyncio.to_thread(read_audits, context.agent.session.directory)


async def _find(context: CommandContext, number: str) -> AuditedProgram:
    """The program of a number, `#` before it or not, or of an id; raises UsageError."""
    programs = await _audits(context)
    for program in programs:
        if number.lstrip("#") == str(program.number) or number == program.id:
            return program
    has = f"It has {len(programs)}" if programs else "It has none yet"
    if number in _MODES:
        raise UsageError(f"Nothing was done. Did you mean /programs mode {number}?")
    if number in _WORDS:
        raise UsageError(f"/programs {number} what? Nothing was done. Usage: /programs {USAGE}")
    hint = did_you_mean(number, _WORDS, "/programs ")
    raise UsageError(
        f"This session has no program {number}. {has}; nothing was done.{hint} /programs lists them."
    )


async def _list(context: CommandContext) -> CommandResult:
    programs = await _audits(context)
    mode = context.agent.programs.mode
    if programs:
        text = f"{program_list(programs)}\nMode {mode}: {_MODES[mode]}."
    else:
        text = f"No program has run in this session. Mode {mode}: {_MODES[mode]}."
    data = {
        "mode": mode,
        "programs": [as_object(program) for program in programs],
        "kept_out": sum(program.kept_out for program in programs),
    }
    return CommandResult(text, data)


def _switch(context: CommandContext, mode: str) -> CommandResult:
    programs = context.agent.programs
    before = programs.mode
    programs.set_mode(mode)
    if mode == before:
        return CommandResult(f"The programs mode is {mode} already.", {"mode": mode, "changed": False})
    text = (
        f"Programs mode {mode}: {_MODES[mode]}. The next request begins anew with other definitions, so the "
        "provider reads the conversation again instead of from its cache, once."
    )
    return CommandResult(text, {"mode": mode, "changed": True})


async def _save(context: CommandContext, name: str, number: str) -> CommandResult:
    programs = await _audits(context)
    if not programs:
        raise UsageError("No program has run in this session, so there is none to keep. Nothing was written.")
    program = await _find(context, number) if number else programs[-1]
    if context.registry.find(name) is not None:
        raise UsageError(f"/{name} is a command of mcode. Nothing was written; take another name.")
    path = await asyncio.to_thread(keep_program, _directory(context), name, program.code, program.tools)
    needs = ", ".join(program.tools) or "no tools"
    text = f"Program #{program.number} is kept in {path}; it needs {needs}. Run it with /{name} or `mcode run {name}`."
    return CommandResult(text, {"path": str(path), "needs": list(program.tools)})


async def _export(context: CommandContext, number: str, file: str) -> CommandResult:
    program = await _find(context, number)
    path = context.agent.workspace.current / file
    if path.exists():
        raise UsageError(f"{path} exists already. Nothing was written; name another file.")
    try:
        await asyncio.to_thread(replace_file, path, jsontext.dump(exported(program)).encode())
    except OSError as error:
        raise StorageError(
            f"The program could not be written to {path}: {error.strerror}. Nothing changed."
        ) from None
    return CommandResult(f"Program #{program.number} is in {path}.", {"path": str(path)})


async def _kept(context: CommandContext) -> CommandResult:
    directory = _directory(context)
    programs = await asyncio.to_thread(kept_programs, directory)
    data = [{"name": each.name, "needs": list(each.needs), "path": str(each.path)} for each in programs]
    if not programs:
        text = f"No program is kept in {directory}. /programs save NAME keeps the last one that ran."
        return CommandResult(text, data)
    rows = [
        (f"/{each.name}", f"needs {', '.join(each.needs) or 'no tools'}", each.title) for each in programs
    ]
    return CommandResult(table(rows), data)


async def _stop(context: CommandContext) -> CommandResult:
    running = [program for program in await _audits(context) if program.status == "running"]
    stopped = [
        each for each in running if context.agent.programs.stop(each.id, "it was stopped by /programs")
    ]
    if not stopped:
        return CommandResult("No program runs; nothing was done.", {"stopped": []}, failed=True)
    return CommandResult(f"Program #{stopped[-1].number} is stopped.", {"stopped": [stopped[-1].id]})


def _cancel(context: CommandContext, call: str) -> CommandResult:
    if context.agent.programs.cancel(call):
        return CommandResult(f"The call {call} is cancelled; its program goes on.", {"cancelled": call})
    return CommandResult(
        f"No program runs a call {call}; nothing was done.", {"cancelled": None}, failed=True
    )


def _directory(context: CommandContext) -> Path:
    return programs_directory(context.agent.workspace.start)


def _words(context: CommandContext) -> Sequence[str]:
    numbers = [str(program.number) for program in read_audits(context.agent.session.directory)]
    return ("mode off", "mode beside", "mode first", "save", "export", "stop", "cancel", "kept", *numbers)


PROGRAMS = Command(
    "programs",
    "programs of the model: list, look into one, keep one, switch",
    _programs,
    usage=USAGE,
    complete=_words,
    detail=(
        "  /programs 2            the program with its calls beside its lines\n"
        "  /programs save NAME    keep the last one as .mcode/programs/NAME.js; /NAME runs it without a model\n"
        "  /programs mode first   what programs can call is called by programs alone"
    ),
)
