"""A server made with the protocol's own library: `real_http_server.py TRANSPORT PORT`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

SERVERS: Any = importlib.import_module("mcp.server.mcpserver")  # for the type checker this package is `mcp`

server = SERVERS.MCPServer("real", instructions="Adds numbers.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


server.run(transport=sys.argv[1], port=int(sys.argv[2]))
