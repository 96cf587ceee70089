"""Images in what servers answer: looked at by their content, shown within limits, kept in a file whatever they are."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from mcode.mcp.results import IMAGES_LIMIT, contents_text, tool_result
from tests.images.making import png

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.images.picture import Picture
    from mcode.tool import ToolResult

SHOT = png(64, 48)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def answer(tmp_path: Path, *parts: dict[str, Any]) -> ToolResult:
    made: list[Path] = []

    def spill(suffix: str) -> Path:
        made.append(tmp_path / f"out{len(made)}{suffix}")
        return made[-1]

    return tool_result({"content": list(parts)}, spill)


def image(data: bytes, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": encoded(data), "mimeType": mime}


def test_m_09_an_image_is_shown_and_kept_whatever_its_type_claims(tmp_path: Path) -> None:
    result = answer(tmp_path, {"type": "text", "text": "here"}, image(SHOT, "image/webp"))
    (picture,) = result.images
    assert (picture.form.media_type, picture.data) == ("image/png", SHOT)
    assert "here" in result.text
    assert "PNG 64x48" in result.text
    assert next(tmp_path.iterdir()).read_bytes() == SHOT


def test_m_09_what_only_claims_to_be_an_image_is_kept_with_a_note(tmp_path: Path) -> None:
    result = answer(tmp_path, image(b"hello"), image(SHOT[:-15]))
    assert not result.images
    assert "not shown: its content is no image of a format that is known" in result.text
    assert "not shown: it is damaged" in result.text
    assert sorted(path.stat().st_size for path in tmp_path.iterdir()) == [5, len(SHOT) - 15]


def test_m_09_a_resource_that_is_an_image_is_shown_too(tmp_path: Path) -> None:
    images: list[Picture] = []
    contents = [{"uri": "shot://one", "mimeType": "application/octet-stream", "blob": encoded(SHOT)}]
    text = contents_text(contents, lambda suffix: tmp_path / f"out{suffix}", images)
    assert [picture.data for picture in images] == [SHOT]
    assert text.startswith("[resource shot://one] [file, application/octet-stream")


def test_m_09_of_very_many_images_of_one_result_the_first_are_shown(tmp_path: Path) -> None:
    result = answer(tmp_path, *(image(png(2, 2, red=number)) for number in range(IMAGES_LIMIT + 3)))
    assert len(result.images) == IMAGES_LIMIT
    assert result.text.count("not shown, for 20 images of one result are") == 3
