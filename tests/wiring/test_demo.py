"""What `mcode --demo` brings along."""

from __future__ import annotations

import json

from mcode.command_line import parse
from mcode.wiring.demo import with_demo


def test_the_demos_server_can_be_made_slow_and_made_to_fail_from_the_command_line() -> None:
    usual, odd = parse(["--demo"]), parse(["--demo-latency", "150", "--demo-fail-every", "3"])
    (entry,) = with_demo(usual).mcp_configs
    assert json.loads(entry)["mcpServers"]["office"]["args"] == ["-m", "mcode.demo"]
    assert odd.demo
    (entry,) = with_demo(odd).mcp_configs
    found = json.loads(entry)["mcpServers"]["office"]["args"]
    assert found == ["-m", "mcode.demo", "--latency", "150.0", "--fail-every", "3"]
