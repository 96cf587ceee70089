"""Read of an image file, recognised by its content: the model is shown the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.builtins.refusal import RefusalError
from mcode.call import Origin
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.call import Call
    from mcode.jsontext import JsonObject


def show_image(raw: bytes, path: Path, call: Call) -> ToolResult:
    """The image in these bytes. Raises RefusalError where it cannot be shown, or a program asks."""
    from mcode.images.formats import label_of
    from mcode.images.picture import RefusedImageError, take_picture

    what = f"{path} is a {label_of(raw[:16])} image of {len(raw):,} bytes"
    if call.origin is Origin.PROGRAM:
        raise RefusalError(f"{what}, and a program cannot look at one. Call Read on it outside of a program.")
    try:
        picture = take_picture(raw, path.name)
    except RefusedImageError as error:
        raise RefusalError(f"{what} that cannot be shown: {error}.") from None
    scaled = ""
    if picture.scaled_from is not None:
        width, height = picture.scaled_from
        scaled = f"Scaled down from {width}x{height} pixels."
    form = picture.form
    data: JsonObject = {
        "type": "image",
        "media_type": form.media_type,
        "width": form.width,
        "height": form.height,
        "bytes": len(picture.data),
    }
    return ToolResult(
        text=" ".join(filter(None, (f"{path.name} is an image: {picture.facts}.", scaled))),
        data=data,
        summary=picture.facts,
        images=(picture,),
    )
