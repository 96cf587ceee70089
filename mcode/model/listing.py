"""The list of an endpoint's models, in the words of whoever made the endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.client import ModelInfo
from mcode.model.reading import count_field, is_object, objects_in, text_field

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


def items_of(page: JsonValue) -> list[JsonObject]:
    """The entries of one page of the list."""
    return objects_in(page if not is_object(page) else page.get("data") or page.get("models"))


def model_info(item: JsonObject) -> ModelInfo:
    """One entry of a list, in Anthropic's words, llama.cpp's, vLLM's, OpenRouter's or LM Studio's."""
    meta = item.get("meta")
    windows = (
        count_field(meta, "n_ctx"),
        count_field(item, "max_input_tokens"),
        count_field(item, "max_model_len"),
        count_field(item, "context_length"),
        count_field(item, "loaded_context_length"),
        count_field(item, "max_context_length"),
    )
    return ModelInfo(
        id=text_field(item, "id") or text_field(item, "name"),
        window=next((window for window in windows if window), None),
        max_tokens=count_field(item, "max_tokens") or count_field(item, "max_output_tokens") or None,
        display_name=text_field(item, "display_name") or text_field(item, "name"),
    )
