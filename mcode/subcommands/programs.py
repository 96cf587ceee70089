"""`mcode programs list|show|export`: the programs that sessions of this folder have run, without opening one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.commands.program_tables import as_object, exported, program_list, program_page
from mcode.config.places import find_places
from mcode.errors import UsageError
from mcode.masking import Masker
from mcode.run_code.audit_read import read_audits
from mcode.session.store import SessionStore
from mcode.streams import write
from mcode.subcommands.parser import SubcommandParser
from mcode.text import Kind, clean
from mcode.wiring.workbench import working_directory

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.run_code.audit_read import AuditedProgram

WORDS = ("list", "show", "export")


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns the exit code. Raises UsageError."""
    parser = _parser()
    parser.check_word(arguments, WORDS)
    given = parser.parse_args(arguments)
    session, programs = _programs(given.session)
    if given.what == "list":
        listed = {"session": session, "programs": [as_object(program) for program in programs]}
        empty = f"No program has run in {f'session {session}' if session else 'any session of this folder'}."
        _say(jsontext.dump(listed) if given.json else program_list(programs) if programs else empty)
        return 0
    if session is None:
        raise UsageError("No program has run in any session of this folder. Nothing was done.")
    program = _chosen(programs, given.number, session)
    as_json = given.what == "export" or given.json
    _say(jsontext.dump(exported(program)) if as_json else program_page(program))
    return 0


def _parser() -> SubcommandParser:
    parser = SubcommandParser("mcode programs", description=__doc__)
    shared = SubcommandParser(add_help=False)
    shared.add_argument(
        "--session", metavar="ID", help="id, its beginning, or name; without, the one whose program ran last"
    )
    shared.add_argument("--json", action="store_true", help="JSON instead of a table")
    words = parser.add_subparsers(dest="what", required=True, metavar="|".join(WORDS))
    words.add_parser("list", parents=[shared], help="the programs of a session")
    for word, text in (("show", "one program line by line"), ("export", "one program's whole audit as JSON")):
        words.add_parser(word, parents=[shared], help=text).add_argument("number", metavar="NUMBER")
    return parser


def _programs(reference: str | None) -> tuple[str | None, tuple[AuditedProgram, ...]]:
    """The session that is meant and its programs; None where none of this folder has any."""
    places = find_places(os.environ)
    store = SessionStore(places.project_directory(working_directory()), Masker(os.environ))
    identifier = store.resolve(reference) if reference else _latest(store.directory)
    return identifier, read_audits(store.directory / identifier) if identifier is not None else ()


def _latest(directory: Path) -> str | None:
    """The session whose last program ran last; one that only ran a kept program is no conversation, but counts."""
    audits = list(directory.glob("*/program-*.jsonl"))
    return max(audits, key=lambda path: path.stat().st_mtime_ns).parent.name if audits else None


def _chosen(programs: tuple[AuditedProgram, ...], number: str, session: str) -> AuditedProgram:
    for program in programs:
        if number.lstrip("#") == str(program.number) or number == program.id:
            return program
    raise UsageError(
        f"Session {session} has {len(programs)} programs, and none is {number}. Nothing was done."
    )


def _say(text: str) -> None:
    shown = clean(text, Kind.BLOCK) if sys.stdout.isatty() else text
    write(sys.stdout, f"{shown}\n")
