"""Plain text tables and figures for the answers of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import cell_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]], *, indent: str = "  ", right: frozenset[int] = frozenset()) -> str:
    """Rows as aligned columns, two blanks between them; columns in `right` are set flush right."""
    kept = [tuple(" ".join(cell.split()) for cell in row) for row in rows]
    if not kept:
        return ""
    columns = max(len(row) for row in kept)
    widths = [max((cell_width(row[at]) for row in kept if at < len(row)), default=0) for at in range(columns)]
    return "\n".join(indent + _row(row, widths, right).rstrip() for row in kept)


def _row(row: Sequence[str], widths: Sequence[int], right: frozenset[int]) -> str:
    cells: list[str] = []
    for at, cell in enumerate(row):
        padding = " " * (widths[at] - cell_width(cell))
        cells.append(padding + cell if at in right else cell + padding)
    return "  ".join(cells)


def tokens(count: int) -> str:
    """A number of tokens in few characters: `310`, `2.1k`, `200k`."""
    if count < 1000:
        return str(count)
    thousands = count / 1000
    return f"{thousands:.1f}k" if thousands < 100 else f"{thousands:.0f}k"


def percent(part: int, whole: int) -> str:
    """A share as whole percent; `?` where the whole is unknown."""
    return f"{100 * part / whole:.0f}%" if whole > 0 else "?"


def dollars(amount: float | None) -> str:
    """A sum of money, below one dollar to the hundredth of a cent, or that no prices are set."""
    if amount is None:
        return "unknown (no prices set)"
    return f"${amount:.4f}" if 0 < amount < 1 else f"${amount:.2f}"


def plural(count: int, noun: str, several: str = "") -> str:
    """`1 tool`, `2 tools`."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"
