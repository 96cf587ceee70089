"""Turn a session's file into a script for the scripted model, so that what happened to a user becomes a test.

    python -m tools.record SESSION.jsonl [--output SCRIPT.json] [--messages MESSAGES.jsonl]

The script gives the model's answers of the session in their order, broken ones with the fault that broke them as
far as it is known. Secrets are masked as they are in the session's file, and once more by shape. `--messages` writes
what the user said, as lines for `mcode -p --input-format stream-json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mcode.agent.rewinding import checkpoints
from mcode.errors import StorageError
from mcode.masking import Masker
from mcode.model.script import parse_script
from mcode.session.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.session.records import Record

NO_MODEL = frozenset({"signature", "cache_control"})
"""Keys of a content block that belong to the provider that gave it."""


def script_of(records: Iterable[Record], name: str) -> dict[str, Any]:
    """A script with one reply for each of the model's messages, in the shape that `--script` files have."""
    replies = [_reply(record.body) for record in records if record.type == "assistant"]
    script = {"name": name, "turns": [{"reply": reply} for reply in replies]}
    return cast("dict[str, Any]", Masker({}).mask_value(script))


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    message = body.get("message", {})
    reply: dict[str, Any] = {
        "blocks": [_block(block) for block in message.get("content", [])] or [{"type": "text", "text": ""}]
    }
    if message.get("stop_reason"):
        reply["stop_reason"] = message["stop_reason"]
    if usage := message.get("usage"):
        reply["usage"] = {key: value for key, value in usage.items() if isinstance(value, int)}
    if not body.get("complete", True) and "stop_reason" not in reply:
        reply["fault"] = "end-before-message-delta"
    return reply


def _block(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key not in NO_MODEL}


def messages_of(records: list[Record]) -> list[dict[str, Any]]:
    """The user's messages that were not taken back, as lines of stream-json input."""
    return [
        {"type": "user", "message": {"role": "user", "content": point.text}, "parent_tool_use_id": None}
        for point in checkpoints(records)
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools.record", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("session", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--messages", type=Path)
    given = parser.parse_args(arguments)
    try:
        journal = Journal.open_read_only(given.session)
    except StorageError as error:
        print(f"tools.record: {error}", file=sys.stderr)
        return 1
    records = list(journal.records)
    journal.close()
    script = script_of(records, f"recorded from {given.session.stem[:8]}")
    parse_script(script, "the recorded script")
    text = json.dumps(script, ensure_ascii=False, indent=1) + "\n"
    if given.output is None:
        sys.stdout.write(text)
    else:
        given.output.write_text(text, "utf-8")
    if given.messages is not None:
        lines = [json.dumps(line, ensure_ascii=False) for line in messages_of(records)]
        given.messages.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
