"""Output as a terminal would show it, line by line: without overwritten states, and endless lines cut."""

from __future__ import annotations

LINE_LIMIT = 8192
"""Bytes of one line that are shown; a mark stands for the rest of a longer one."""

_CUT = " [… line cut …]".encode()


class LineShaper:
    r"""Shapes one stream, chunk by chunk, in time proportional to the chunk; holds one unfinished line.

    Of a line with `\r` in it only the last state is kept, as it would stand on a terminal in the end.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        """The unfinished line's last state; one byte over LINE_LIMIT means it is too long. May end in `\\r`."""
        self.not_text = 0
        """Bytes so far that are not UTF-8."""
        self.lines_cut = 0

    def feed(self, chunk: bytes) -> bytes:
        """The lines that this chunk completes, each with its newline."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._extend(chunk)
            return b""
        complete = bytes(self._line) + chunk[:end]
        self._line.clear()
        self._extend(chunk[end:])
        if b"\r" in complete or _has_long_line(complete):
            complete = b"".join(self._shape(line) for line in complete[:-1].split(b"\n"))
        return self._count(complete)

    def finish(self) -> bytes:
        """The unfinished line, if there is one; without a newline."""
        line, self._line = bytes(self._line), bytearray()
        return self._count(self._shape(line)[:-1]) if line else b""

    def _extend(self, piece: bytes) -> None:
        """Add bytes without a newline to the unfinished line."""
        if b"\r" in piece or self._line.endswith(b"\r"):
            line = bytes(self._line) + piece
            state = _last_state(line)[: LINE_LIMIT + 1]
            self._line = bytearray(state + b"\r" if line.endswith(b"\r") else state)
        else:
            self._line += piece[: LINE_LIMIT + 1 - len(self._line)]

    def _shape(self, line: bytes) -> bytes:
        state = _last_state(line) if b"\r" in line else line
        if len(state) > LINE_LIMIT:
            self.lines_cut += 1
            state = without_broken_end(state[:LINE_LIMIT]) + _CUT
        return state + b"\n"

    def _count(self, lines: bytes) -> bytes:
        if not lines.isascii():
            self.not_text += len(lines) - len(lines.decode("utf-8", "ignore").encode())
        return lines


class HeadAndTail:
    """Keeps the first and the last bytes of a stream, `limit` of each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        self._total += len(data)
        room = self._limit - len(self._head)
        if room:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._limit :]
        if len(self._tail) > 2 * self._limit:
            del self._tail[: -self._limit]

    def finish(self) -> tuple[bytes, bytes, int]:
        """Head, tail, and the number of bytes between them that are gone."""
        head, tail = bytes(self._head), bytes(self._tail[-self._limit :])
        return head, tail, self._total - len(head) - len(tail)


def without_broken_end(data: bytes) -> bytes:
    """Drop the first bytes of a character whose rest was cut off."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            length = (
                2 if byte & 0xE0 == 0xC0 else 3 if byte & 0xF0 == 0xE0 else 4 if byte & 0xF8 == 0xF0 else 1
            )
            return data[:-back] if length > back else data
    return data


def without_broken_start(data: bytes) -> bytes:
    """Drop the last bytes of a character whose beginning was cut off."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _last_state(line: bytes) -> bytes:
    r"""What stands on the line in the end: what follows the last `\r`, those at its very end not counted."""
    stripped = line.rstrip(b"\r")
    return stripped[stripped.rfind(b"\r") + 1 :]


def _has_long_line(lines: bytes) -> bool:
    r"""Whether a line exceeds LINE_LIMIT. Steps from newline to newline backwards, 8 KB at a time."""
    start = 0
    while len(lines) - start > LINE_LIMIT:
        newline = lines.rfind(b"\n", start, start + LINE_LIMIT + 1)
        if newline < 0:
            return True
        start = newline + 1
    return False
