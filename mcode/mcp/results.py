"""Converts a server's answer to a call into the result for the model and for programs."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import FailureKind
from mcode.model.reading import is_list, is_object, objects_in, text_field
from mcode.text import Kind, clean, shorten
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.images.picture import Picture
    from mcode.jsontext import JsonObject, JsonValue

PARSED_LIMIT = 8 * 1024 * 1024
"""Characters of text that are read as JSON for programs."""

BLOB_LIMIT = 32 * 1024 * 1024
"""Bytes of an image, a sound or a file that are kept."""

IMAGES_LIMIT = 20
"""Images of one result that the model is shown; the others are kept in files like all else."""


def tool_result(
    result: JsonObject,
    spill: Callable[[str], Path],
    check: Callable[[JsonValue], str] = lambda _: "",
) -> ToolResult:
    """Turn a result into text and data. `spill` names files for what is no text; `check` says what is wrong with
    the structured part, if the tool promised a shape. May take a while for large ones: meant for a thread.
    """
    images: list[Picture] = []
    texts = [_part_text(part, spill, images) for part in objects_in(result.get("content"))]
    text = clean("\n".join(each for each in texts if each), Kind.MODEL)
    structured = result.get("structuredContent")
    notes: list[str] = []
    data: JsonValue = structured
    if structured is None:
        data = _json_in(result, text)
    elif wrong := check(structured):
        notes.append(f"The result does not have the shape that the tool's output schema promises: {wrong}")
    if structured is not None and not text:
        text = clean(jsontext.dump(structured), Kind.MODEL)
    failed = result.get("isError") is True
    return ToolResult(
        text=text or ("The tool failed and gave no reason." if failed else "The tool gave no output."),
        data=None if failed else data,
        failure=FailureKind.TOOL_ERROR if failed else None,
        summary=_summary(text, failed=failed),
        notes=tuple(notes),
        images=tuple(images),
    )


def contents_text(contents: JsonValue, spill: Callable[[str], Path], images: list[Picture]) -> str:
    """The text of a resource that was read; what the model can be shown of it joins `images`."""
    parts = [_resource_text(part, spill, images) for part in objects_in(contents)]
    return clean("\n".join(parts), Kind.MODEL)


def _json_in(result: JsonObject, text: str) -> JsonValue:
    """The object or array that the only text of a result is, for programs; None for any other text."""
    parts = objects_in(result.get("content"))
    if len(parts) != 1 or text_field(parts[0], "type") != "text" or len(text) > PARSED_LIMIT:
        return None
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = jsontext.parse(text_field(parts[0], "text"))
    except jsontext.JsonError:
        return None
    return value if is_object(value) or is_list(value) else None


def _part_text(part: JsonObject, spill: Callable[[str], Path], images: list[Picture]) -> str:
    kind = text_field(part, "type")
    if kind == "text":
        return text_field(part, "text")
    if kind in ("image", "audio"):
        return _blob_note(kind, text_field(part, "mimeType"), text_field(part, "data"), spill, images)
    if kind == "resource":
        return _resource_text(part.get("resource"), spill, images)
    if kind == "resource_link":
        title = text_field(part, "title") or text_field(part, "name")
        about = text_field(part, "description")
        said = f"{title}: {about}" if about else title
        return (
            f"[link to the resource {text_field(part, 'uri')} ({said[:300]}); ReadMcpResourceTool reads it]"
        )
    return f"[content of the unknown kind {kind[:40]!r} is left out]"


def _resource_text(resource: JsonValue, spill: Callable[[str], Path], images: list[Picture]) -> str:
    uri, text = text_field(resource, "uri"), text_field(resource, "text")
    if is_object(resource) and "blob" in resource:
        mime = text_field(resource, "mimeType")
        return f"[resource {uri}] " + _blob_note("file", mime, text_field(resource, "blob"), spill, images)
    return f"[resource {uri}]\n{text}"


def _blob_note(
    kind: str, mime: str, encoded: str, spill: Callable[[str], Path], images: list[Picture]
) -> str:
    """Keep what is no text in a file of the session, and say where. An image within the limits joins `images`."""
    named = mime[:60] or "of unknown type"
    if len(encoded) > BLOB_LIMIT * 4 // 3 + 4:
        return f"[{kind}, {named}: left out, over {BLOB_LIMIT:,} bytes]"
    try:
        data = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return f"[{kind}, {named}: left out, its bytes are damaged]"
    path = spill(mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin")
    try:
        path.write_bytes(data)
        path.chmod(0o600)
    except OSError as error:
        return f"[{kind}, {named}, {len(data):,} bytes: could not be kept, {error.strerror}]"
    facts = f"{kind}, {named}, {len(data):,} bytes, kept in {path}"
    from mcode.images.formats import label_of
    from mcode.images.picture import RefusedImageError, take_picture

    if kind != "image" and not label_of(data[:16]):
        return f"[{facts}]"
    if len(images) >= IMAGES_LIMIT:
        return f"[{facts}; not shown, for {IMAGES_LIMIT} images of one result are]"
    try:
        images.append(picture := take_picture(data, path.name))
    except RefusedImageError as error:
        return f"[{facts}; not shown: {error}]"
    return f"[{facts}, {picture.facts}]"


def _summary(text: str, *, failed: bool) -> str:
    lines = text.splitlines()
    if not lines:
        return "failed" if failed else "no output"
    first = shorten(clean(lines[0], Kind.LINE), 80)
    if failed:
        return first
    return first if len(lines) == 1 else f"{len(lines)} lines"
