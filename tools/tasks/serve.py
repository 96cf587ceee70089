"""`python -m tools.tasks.serve TASK SERVER`: serve one server of a task on pipes."""

from __future__ import annotations

import sys
from importlib import import_module

from mcode.demo.serving import serve

if __name__ == "__main__":
    serve(import_module(f"tools.tasks.{sys.argv[1]}").TASK.servers[sys.argv[2]]())
