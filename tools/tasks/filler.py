"""Servers that are there but not needed: tools as real servers have them, in any number."""

from __future__ import annotations

from typing import Any

from mcode.demo.serving import CallError, Service, tool

NOUNS = (
    "pipeline",
    "invoice",
    "campaign",
    "dataset",
    "webhook",
    "calendar",
    "playlist",
    "shipment",
    "survey",
    "branch",
    "firewall",
    "backup",
    "voucher",
    "lead",
    "article",
    "sensor",
    "ledger",
    "badge",
    "queue",
    "certificate",
)  # fmt: skip -- a list of words
VERBS = (
    "create",
    "archive",
    "rename",
    "export",
    "import",
    "clone",
    "schedule",
    "validate",
    "share",
    "restore",
)


def filler_tools(count: int, kind: str = "") -> list[dict[str, Any]]:
    """So many definitions, none alike; `kind` is a word that goes into the names."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        noun, verb = NOUNS[number % len(NOUNS)], VERBS[number // len(NOUNS) % len(VERBS)]
        extra = f"_{kind}" if kind else ""
        found.append(
            tool(
                f"{verb}_{noun}{extra}",
                f"{verb.title()}s a {noun} of the workspace{f' ({kind})' if kind else ''}. The {noun} must exist "
                f"unless it is being made; the answer names the {noun} and the change. Needs the right to {verb}.",
                ["workspace", noun],
                workspace={
                    "type": "string",
                    "description": "The workspace that the call is about, by its id.",
                },
                **{noun: {"type": "string", "description": f"The {noun}, by its id or its exact title."}},
                dry_run={
                    "type": "boolean",
                    "description": f"Only say what it would {verb}, and change nothing.",
                },
                tags={
                    "type": "array",
                    "items": {"type": "string"},
                    "description": f"Tags to put on the {noun}.",
                },
            )
        )
    return found


def filler(name: str, count: int) -> Service:
    """A server of tools that no task needs."""

    def call(tool_name: str, arguments: dict[str, Any]) -> Any:
        del arguments
        raise CallError(f"{tool_name} is not what this task needs")

    return Service(name, f"Workspace tools of {name}.", filler_tools(count, name), call)
