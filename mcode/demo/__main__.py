"""`python -m mcode.demo [--latency MS] [--fail-every N]`: serve the invented office on pipes."""

from __future__ import annotations

import argparse

from mcode.demo.serving import Service, serve
from mcode.demo.tables import TOOLS, Office

INSTRUCTIONS = (
    "The books of an invented office: employees, expenses and budgets, tickets, deployments, devices."
)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="mcode.demo", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, metavar="MS", help="milliseconds of each call")
    parser.add_argument("--fail-every", type=int, default=0, metavar="N", help="every Nth call fails")
    given = parser.parse_args()
    serve(
        Service(
            "office",
            INSTRUCTIONS,
            TOOLS,
            Office().call,
            latency=given.latency / 1000,
            fail_every=given.fail_every,
        )
    )


if __name__ == "__main__":
    main()
