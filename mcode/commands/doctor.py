"""/doctor: what is wrong in the settings of this folder, and what is good to know."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from mcode.commands.checkup import examine, worst
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.checkup import Finding
    from mcode.commands.host import CommandContext

COUNTED = {
    "error": ("does not work", "do not work"),
    "warning": ("never has its effect", "never have their effect"),
    "info": ("good to know", "good to know"),
    "ok": ("well", "well"),
}
"""How many there are of each level, said of one and of several."""

TITLES = {
    "error": "Does not work",
    "warning": "Never has its effect",
    "info": "Good to know",
    "ok": "Well",
}

_DETAIL = """\
Looks at settings files, rules, hooks, servers, trust, the endpoint and the sandbox. `mcode doctor` does the same from \
the shell, connects the servers first, and ends with 1 where something does not work or never has its effect."""


async def _doctor(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/doctor")
    findings = await asyncio.to_thread(examine, context)
    return report(context, findings)


def report(context: CommandContext, findings: Sequence[Finding]) -> CommandResult:
    """The findings, the gravest first; failed where something is wrong. Secrets are masked."""
    level = worst(findings)
    data = {"status": level, "findings": [asdict(finding) for finding in findings]}
    counts = [plural(sum(one.level == name for one in findings), *words) for name, words in COUNTED.items()]
    lines = [f"{plural(len(findings), 'thing')} looked at: {', '.join(counts)}"]
    for name, title in TITLES.items():
        alike = [finding for finding in findings if finding.level == name]
        if alike:
            lines += ["", title, *(_line(finding) for finding in alike)]
    masker = context.around.masker
    return CommandResult(
        masker.mask("\n".join(lines)), masker.mask_value(data), failed=level in ("error", "warning")
    )


def _line(finding: Finding) -> str:
    subject = "" if finding.subject and finding.subject in finding.text else f"{finding.subject}: "
    advice = f" ({finding.advice})" if finding.advice else ""
    return f"  {finding.area}  {subject}{finding.text}{advice}"


DOCTOR = Command(
    "doctor", "what is wrong in the settings here, and what is good to know", _doctor, detail=_DETAIL
)
