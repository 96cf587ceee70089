"""A tool whose server says that the user answers for each call of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from mcode.mcp.adapt import ForeignTool
from mcode.mcp.definitions import read_definitions

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.mcp.adapt import Caller


@pytest.mark.parametrize(("said", "asks"), [(True, True), (False, False), ("yes", False), (None, False)])
def test_only_a_plain_true_of_the_servers_makes_every_call_a_question(said: object, asks: bool) -> None:
    listed: JsonObject = {
        "name": "pay",
        "inputSchema": {"type": "object"},
        "_meta": {"anthropic/requiresUserInteraction": said},
    }
    (definition,), _ = read_definitions("bank", [listed])
    tool = ForeignTool("bank", definition, cast("Caller", None), always_load=False, output_limit=10)
    assert ("the MCP server bank wants the user's own answer" in tool.always_asks) is asks
