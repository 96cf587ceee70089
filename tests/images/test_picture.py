"""An image is known by its content, and held to what endpoints take before it enters a conversation."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from mcode.images import scaling
from mcode.images.formats import DamagedImageError, form_of, label_of
from mcode.images.picture import MOST_BYTES, RefusedImageError, take_picture
from mcode.images.store import ImageStore
from mcode.images.words import described, facts_of
from tests.images.making import gif, jpeg, png, webp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed."""
    monkeypatch.setattr(scaling, "can_scale", lambda: False)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(7, 5), "image/png"),
        (jpeg(7, 5), "image/jpeg"),
        (gif(7, 5), "image/gif"),
        (webp(7, 5), "image/webp"),
    ],
)
def test_s_09_format_and_size_are_told_by_the_content(data: bytes, media_type: str) -> None:
    form = form_of(data)
    assert form is not None
    assert (form.media_type, form.width, form.height) == (media_type, 7, 5)


@pytest.mark.parametrize("data", [b"", b"BM is how this text begins", b"<svg></svg>", b"\0" * 40])
def test_s_09_what_is_no_image_is_none(data: bytes) -> None:
    assert form_of(data) is None
    assert label_of(data) == ""


@pytest.mark.parametrize("make", [png, jpeg, gif, webp])
def test_s_09_an_image_cut_anywhere_is_damaged_and_nothing_else_happens(
    make: Callable[[int, int], bytes],
) -> None:
    whole = make(7, 5)
    for length in range(12, len(whole)):
        with pytest.raises(DamagedImageError):
            form_of(whole[:length])


def test_s_09_one_wrong_byte_in_a_png_is_found() -> None:
    good = png(40, 30)
    damaged = good[:60] + bytes([good[60] ^ 1]) + good[61:]
    with pytest.raises(RefusedImageError, match="damaged"):
        take_picture(damaged, "shot.png")


def test_s_09_an_image_without_pixels_is_refused() -> None:
    with pytest.raises(RefusedImageError, match="its size is 0x5"):
        take_picture(jpeg(0, 5), "none.jpg")


@pytest.mark.usefixtures("without_pillow")
def test_s_09_without_pillow_a_side_may_have_8000_pixels_and_no_more() -> None:
    assert take_picture(png(8_000, 1), "wide.png").form.width == 8_000
    with pytest.raises(RefusedImageError, match=r"8001x1 pixels.*8,000.*mcode\[images\]"):
        take_picture(png(8_001, 1), "wide.png")


@pytest.mark.usefixtures("without_pillow")
def test_s_09_without_pillow_too_many_bytes_are_refused_with_the_limit() -> None:
    with pytest.raises(RefusedImageError, match=r"3,750,000.*mcode\[images\]"):
        take_picture(png(1_200, 1_100, noise=True), "noise.png")


@pytest.mark.usefixtures("without_pillow")
def test_a_foreign_format_is_named_where_nothing_can_convert_it() -> None:
    with pytest.raises(RefusedImageError, match="TIFF, which no endpoint takes"):
        take_picture(b"II*\0" + b"\0" * 40, "scan.tiff")


def test_s_09_with_pillow_a_large_image_is_scaled_and_says_what_it_was() -> None:
    pytest.importorskip("PIL")
    picture = take_picture(png(9_000, 30), "wide.png")
    assert (picture.form.width, picture.form.height) == (2_000, 7)
    assert picture.scaled_from == (9_000, 30)
    assert form_of(picture.data) == picture.form


def test_s_09_with_pillow_what_is_too_heavy_becomes_a_jpeg_within_the_limit() -> None:
    pytest.importorskip("PIL")
    picture = take_picture(png(1_200, 1_100, noise=True), "noise.png")
    assert picture.form.media_type == "image/jpeg"
    assert len(picture.data) <= MOST_BYTES
    assert form_of(picture.data) == picture.form


def test_with_pillow_a_foreign_format_is_converted() -> None:
    image = pytest.importorskip("PIL.Image")
    written = io.BytesIO()
    image.new("RGB", (6, 4), "red").save(written, "BMP")
    picture = take_picture(written.getvalue(), "old.bmp")
    assert (picture.form.media_type, picture.form.width, picture.form.height) == ("image/png", 6, 4)


def test_an_image_that_would_unpack_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    monkeypatch.setattr(scaling, "MOST_PIXELS", 1_000)
    with pytest.raises(RefusedImageError, match="2500x1 pixels, and at most 1,000"):
        take_picture(png(2_500, 1), "bomb.png")


def test_pillow_is_not_loaded_for_an_image_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "scale", None)
    assert take_picture(png(), "small.png").facts == f"PNG 4x3, {len(png())} bytes"


def test_the_store_gives_back_the_very_bytes_and_nothing_that_was_changed(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "values")
    picture = take_picture(png(), "shot.png")
    block = store.keep(picture)
    assert store.load(block) == picture.data
    assert facts_of(block) == picture.facts
    (file,) = (tmp_path / "values").iterdir()
    assert file.suffix == ".png"
    file.write_bytes(b"something else")
    assert store.load(block) is None
    file.unlink()
    assert store.load(block) is None
    assert store.load({**block, "id": "../../etc/passwd"}) is None
    assert described(block) == f"image shot.png, PNG 4x3, {len(png())} bytes"
