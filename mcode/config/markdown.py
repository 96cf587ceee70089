"""What mcode reads in Markdown: block comments, `@path` mentions outside code, front matter. All in linear time."""

from __future__ import annotations

import re

FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
BACKTICKS = re.compile(r"`+")
MENTION = re.compile(r"(?<![\w@/.+\-])@((?:\\ |[^\s\x00-\x1f\\\"'<>|*?`@,;])+)")
PARAGRAPH = re.compile(r"\n[ \t]*\n")
COMMENT_START = re.compile(r" {0,3}<!--")

TRAILING = ".:!)]}"
"""Signs that end a sentence or a bracket; a mention may be followed by them."""


def without_comments(text: str) -> str:
    """Remove HTML comments that begin a line, outside fences; one that is never closed stays."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    position, fence = 0, ""
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        line = text[position:end]
        comment = None if fence else COMMENT_START.match(line)
        close = text.find("-->", position + comment.end()) if comment else -1
        if comment and close < 0:
            kept.append(text[position:])
            break
        if comment:
            position = close + 3
            rest = text[position : text.find("\n", position) + 1 or len(text)]
            if not rest.strip():
                position += len(rest)
            continue
        fence = _fence_after(line, fence)
        kept.append(line)
        position = end
    return "".join(kept)


def mentions(text: str) -> tuple[str, ...]:
    """The paths after `@`, each once and in order, outside code spans and fences; trailing signs stay on."""
    if "@" not in text:
        return ()
    plain: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        after = _fence_after(line, fence)
        plain.append("\n\n" if fence or after else line)
        fence = after
    found: dict[str, None] = {}
    for paragraph in PARAGRAPH.split("".join(plain)):
        for mention in MENTION.finditer(_without_spans(paragraph)):
            found[mention.group(1).replace("\\ ", " ")] = None
    return tuple(found)


def only_mentions(text: str) -> bool:
    """True where a text consists of nothing but `@path` words."""
    words = re.sub(r"\\ ", "_", text).split()
    return bool(words) and all(MENTION.fullmatch(word) for word in words)


def split_front_matter(text: str) -> tuple[str, str]:
    """The lines between a first line `---` and the next one, and the rest; ("", text) where there are none."""
    if not text.startswith("---"):
        return "", text
    lines = text.splitlines(keepends=True)
    if lines[0].strip() != "---":
        return "", text
    for index, line in enumerate(lines[1:], 1):
        if line.strip() in ("---", "..."):
            return "".join(lines[1:index]), "".join(lines[index + 1 :])
    return "", text


def paths_of(front: str) -> tuple[str, ...]:
    """The globs of a front matter's `paths`: a list in brackets, a list of dashes, or one line with commas."""
    lines = front.splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith("paths:")), None)
    if start is None:
        return ()
    written = lines[start].removeprefix("paths:").strip()
    if written.startswith("#"):
        written = ""
    if not written:
        entries: list[str] = []
        for line in lines[start + 1 :]:
            if line.strip().startswith("- "):
                entries.append(line.strip()[2:])
            elif line.strip() and not line.startswith((" ", "\t", "#")):
                break
    else:
        closed = written.startswith("[") and written.rstrip().endswith("]")
        entries = split_at_commas(written.strip()[1:-1] if closed else written)
    return tuple(glob for glob in (_unquoted(entry) for entry in entries) if glob)


def split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets and quotes: `Bash(a, b), Read` has two parts."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "()[]{}":
            depth += 1 if letter in "([{" else -1
        if letter == "," and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after a line: its marks, or "" outside."""
    marks = FENCE.match(line)
    if marks is None:
        return fence
    rest = line[marks.end() :]
    if not fence:
        return "" if marks.group(1)[0] == "`" and "`" in rest else marks.group(1)
    closes = marks.group(1).startswith(fence) and not rest.strip()
    return "" if closes else fence


def _without_spans(text: str) -> str:
    """Blank out code spans: from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in BACKTICKS.finditer(text)]
    following: dict[int, int] = {}
    partner = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partner[index] = following.get(length, -1)
        following[length] = index
    kept: list[str] = []
    position = index = 0
    while index < len(runs):
        if partner[index] < 0:
            index += 1
            continue
        kept += [text[position : runs[index][0]], " ` "]
        index = partner[index]
        position = runs[index][1]
        index += 1
    return "".join([*kept, text[position:]])


def _unquoted(entry: str) -> str:
    entry = entry.strip()
    if entry[:1] in ("'", '"') and entry.find(entry[0], 1) > 0:
        return entry[1 : entry.find(entry[0], 1)]
    return entry.partition(" #")[0].strip()
