"""The answers that an approval offers: once, the rules it could make, no, and inside programs what ends them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.events import ApprovalChoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Call
    from mcode.permissions.decide import Proposal

YOU = "you"
"""Who has answered, where it is the user."""
ONCE = "once"
DENY = "deny"
STOP = "stop"
"""Deny, and end the program that made the call."""
PROGRAM = "program"
"""Key of the choice, and destination of its rule: it holds until the program ends."""
BATCH = "batch"
RULE = "rule"
"""Decided by a rule that an answer to another question has made."""

_SESSION_ENDS = " for this session"


def keyed_proposals(proposals: Sequence[Proposal], *, in_program: bool) -> dict[str, Proposal]:
    """The rules on offer by the key of their choice; inside programs one more that ends with the program."""
    keyed: dict[str, Proposal] = {}
    if in_program and proposals:
        keyed[PROGRAM] = _until_program_ends(proposals[0])
    for index, proposal in enumerate(proposals):
        word = "session" if proposal.destination == "session" else "always"
        keyed[word if index < 2 else f"{word}-{index}"] = proposal
    return keyed


def choices_of(proposals: dict[str, Proposal], *, in_program: bool) -> tuple[ApprovalChoice, ...]:
    """All choices of an approval, in the order in which they are shown."""
    kept = [
        ApprovalChoice(key, proposal.label, ", ".join(proposal.rules), proposal.destination)
        for key, proposal in proposals.items()
    ]
    if not in_program:
        return (
            ApprovalChoice(ONCE, "Allow once"),
            *kept,
            ApprovalChoice(DENY, "Deny, and tell the agent why"),
        )
    return (
        ApprovalChoice(ONCE, "Allow once"),
        *kept,
        ApprovalChoice(DENY, "Deny this call; the program gets an error value and goes on"),
        ApprovalChoice(STOP, "Deny it and stop the program"),
    )


def digest_of(call: Call) -> str:
    """SHA-256 of a call's tool and arguments, in hexadecimal."""
    text = jsontext.canonical({"tool": call.tool, "arguments": call.arguments})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _until_program_ends(proposal: Proposal) -> Proposal:
    what = (
        proposal.label.removesuffix(_SESSION_ENDS)
        if proposal.label.endswith(_SESSION_ENDS)
        else f"Allow what {', '.join(proposal.rules)} covers"
    )
    return replace(proposal, destination=PROGRAM, label=f"{what} until this program ends")
