"""What endpoints have refused, kept from one session to the next."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mcode import files, jsontext
from mcode.errors import StorageError
from mcode.model.reading import is_object

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject

logger = logging.getLogger(__name__)


class EndpointMemory:
    """One file for all endpoints; what cannot be read or written counts as not known."""

    def __init__(self, path: Path, base_url: str) -> None:
        self._path = path
        self._base_url = base_url

    def get(self, name: str) -> str:
        """What is known of this endpoint; empty for nothing."""
        try:
            return str(jsontext.parse_object(self._path.read_text("utf-8"))[self._base_url][name])
        except (OSError, ValueError, LookupError, TypeError):
            return ""

    def keep(self, name: str, value: str) -> None:
        """Keep something of this endpoint; an endpoint without an address is not remembered."""
        if not self._base_url:
            return
        try:
            files.private_directory(self._path.parent)
            files.update_json(self._path, lambda known: self._with(known, name, value))
        except (OSError, StorageError) as error:
            logger.warning("what %s refuses could not be kept: %s", self._base_url, error)

    def _with(self, known: JsonObject, name: str, value: str) -> JsonObject:
        before = known.get(self._base_url)
        facts = before if is_object(before) else {}
        return {**known, self._base_url: {**facts, name: value}}
