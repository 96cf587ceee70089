"""`mcode report [SESSION]`: what a session sent, what it cost, what was saved, from its file; no session is opened."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.commands.ledger_page import page
from mcode.commands.ledger_reading import session_ledger
from mcode.commands.ledger_tables import report_text
from mcode.config.load import load_settings
from mcode.config.places import find_places
from mcode.errors import UsageError
from mcode.files import replace_file
from mcode.masking import Masker
from mcode.session.store import SessionStore
from mcode.streams import write
from mcode.subcommands.parser import SubcommandParser
from mcode.text import Kind, clean
from mcode.wiring.workbench import working_directory

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns the exit code. Raises UsageError and StorageError."""
    given = _parser().parse_args(arguments)
    ledger = _ledger(given.session)
    if given.html is not None:
        _write_page(Path(given.html), ledger)
    if given.html is None or given.json:
        text = jsontext.dump(ledger) if given.json else report_text(ledger)
        write(sys.stdout, f"{clean(text, Kind.BLOCK) if sys.stdout.isatty() else text}\n")
    return 0


def _parser() -> SubcommandParser:
    parser = SubcommandParser("mcode report", description=__doc__)
    parser.add_argument(
        "session", nargs="?", help="id, its beginning, or name; without, the latest of this folder"
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of tables")
    parser.add_argument("--html", metavar="FILE", help="write one page with plots that needs no network")
    return parser


def _ledger(reference: str | None) -> JsonObject:
    places, start = find_places(os.environ), working_directory()
    store = SessionStore(places.project_directory(start), Masker(os.environ))
    if reference is None:
        latest = store.latest()
        if latest is None:
            raise UsageError(f"There is no session in {start} to report on.")
        reference = latest.id
    session = store.open_read_only(reference)
    try:
        prices = load_settings(places, start).own.prices
        return session_ledger(session.id, session.journal.records, session.directory, prices)
    finally:
        session.journal.close()


def _write_page(path: Path, ledger: JsonObject) -> None:
    replace_file(path.absolute(), page(ledger).encode("utf-8", "replace"))
    write(sys.stderr, f"Written: {path}\n")
