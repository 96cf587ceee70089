"""Images in the prompt: pasted with a key, dropped as a file, and shown by name and size."""

from __future__ import annotations

import base64
import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from mcode.ui.clipboard_image import mentions_of
from tests.images.making import png
from tests.stage import turns
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

SHOT = png(64, 48)


def clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A wl-paste that runs this script, in front of all others."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "wl-paste"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    for name in ("SSH_CONNECTION", "SSH_TTY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")


def image_of(body: dict[str, Any]) -> bytes:
    (image,) = (block for block in body["messages"][-1]["content"] if block["type"] == "image")
    return base64.b64decode(image["source"]["data"])


async def test_s_09_ctrl_v_pastes_the_clipboards_image_as_a_label_that_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shot").write_bytes(SHOT)
    clipboard(tmp_path, monkeypatch, f'[ "$3" = image/png ] && cat {tmp_path}/shot')
    async with screen(tmp_path, turns("A red rectangle.")) as on:
        await on.type("what is in ")
        await on.press("ctrl+v")
        await on.until(lambda: "[Image #1]: PNG 64x48" in on.shown)
        assert on.draft == "what is in [Image #1] "
        await on.type("\n")
        await on.finished()
        assert image_of(on.stage.client.requests[0]) == SHOT
        assert "PNG 64x48" in on.shown
        assert "pasted-1.png" in on.shown


async def test_a_clipboard_without_an_image_says_so_and_leaves_the_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clipboard(tmp_path, monkeypatch, "echo 'no such type' >&2; exit 1")
    async with screen(tmp_path) as on:
        await on.type("so far")
        await on.press("ctrl+v")
        await on.until(lambda: "There is no image in the clipboard (wl-paste" in on.shown)
        assert on.draft == "so far"


async def test_a_damaged_image_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shot").write_bytes(SHOT[:-9])
    clipboard(tmp_path, monkeypatch, f"cat {tmp_path}/shot")
    async with screen(tmp_path) as on:
        await on.press("ctrl+v")
        await on.until(lambda: "The image was not taken: it is damaged" in on.shown)
        assert on.draft == ""


async def test_a_dropped_image_file_becomes_a_mention_and_its_card_says_what_it_is(tmp_path: Path) -> None:
    from textual.events import Paste

    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "my shot.png").write_bytes(SHOT)
    async with screen(tmp_path, turns("I see.")) as on:
        on.app.post_message(Paste(f"'{folder}/my shot.png'"))
        await on.until(lambda: on.draft == f'@"{folder}/my shot.png"')
        await on.type(" what is it?\n")
        await on.finished()
        assert image_of(on.stage.client.requests[0]) == SHOT
        assert "my shot.png" in on.shown
        assert "PNG 64x48" in on.shown


@pytest.mark.parametrize("written", ["{}", "'{}'", "file://{}", " {} \n"])
def test_what_terminals_paste_for_a_dropped_image_is_a_mention(tmp_path: Path, written: str) -> None:
    file = tmp_path / "shot.txt"  # it is the content that counts
    file.write_bytes(SHOT)
    assert mentions_of(written.format(file)) == f"@{file}"


def test_several_dropped_images_and_names_with_blanks_are_mentions_too(tmp_path: Path) -> None:
    one, two = tmp_path / "a b.png", tmp_path / "c.gif"
    one.write_bytes(SHOT)
    two.write_bytes(b"GIF89a" + bytes(20))
    assert mentions_of(f"{shlex.quote(str(one))} {two}") == f'@"{one}" @{two}'
    assert mentions_of(str(one).replace(" ", "\\ ")) == f'@"{one}"'
    assert mentions_of(str(one)) == f'@"{one}"'


@pytest.mark.parametrize(
    "text", ["", "/", "look at {0}", "{1}", "{0}\nand more", "it's", "~nobody/x", "/no/such.png"]
)
def test_any_other_paste_stays_what_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.png").write_bytes(SHOT)
    (tmp_path / "a.txt").write_text("words")
    assert mentions_of(text.format(tmp_path / "a.png", tmp_path / "a.txt")) == ""
