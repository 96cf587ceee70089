"""ExitPlanMode: show the plan to the user, who approves it, changes it or rejects it with a reason."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.description import read_description
from mcode.call import FailureKind
from mcode.tool import Choice, Effect, Placement, Preview, Question, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

PLAN = "plan"
SIZE_LIMIT = 200_000
"""Characters of a plan that are read back."""

NOBODY = (
    "Nobody can approve the plan in this run, and mode plan stays. Do not ask again: finish now, with the plan as "
    "your answer."
)
_NO = Choice("No, keep planning", "or type what should be different")


@dataclass(frozen=True, slots=True)
class PlanControl:
    """The mode of the session, as this tool reads and changes it."""

    mode: Callable[[], str]
    change: Callable[[str], None]
    """Enters a mode; raises UsageError."""
    can_bypass: Callable[[], bool]


class ExitPlanMode(Tool):
    """Its data is {approved, mode, plan, changed}."""

    name = "ExitPlanMode"
    effects = frozenset({Effect.ASKS_USER, Effect.CHANGES_SESSION})
    placement = Placement.TOP_LEVEL_ONLY
    input_schema = object_schema(
        {"plan": {"type": "string", "minLength": 1, "description": "Markdown"}}, required=["plan"]
    )

    def __init__(self, control: PlanControl, *, seldom: bool) -> None:
        """`seldom`: the session does not begin in mode plan, so the definition is not in its first request."""
        self.description = read_description("exit_plan_mode")
        self.seldom = seldom
        self._control = control

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        plan = str(arguments["plan"]).strip()
        return Preview(plan.splitlines()[0].lstrip("# ") if plan else "an empty plan", plan)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        mode = self._control.mode()
        if mode != PLAN:
            text = f"The mode is {mode}, not plan: no plan needs approval. Go on with the work."
            return ToolResult(text, failure=FailureKind.TOOL_ERROR, summary="not in mode plan")
        plan = str(arguments["plan"]).strip()
        path = services.spill_path(".plan.md")
        await asyncio.to_thread(_write, path, plan)
        choices = {choice.label: entered for choice, entered in self._choices()}
        told = f"{plan}\n\n---\nThe plan is in `{path}`; what you change there before you answer counts."
        offered = (*(choice for choice, _ in self._choices()), _NO)
        answers = await services.ask([Question(told, "Plan", offered, markdown=True)])
        if answers is None:
            return ToolResult(NOBODY, failure=FailureKind.TOOL_ERROR, summary="nobody approved it")
        said = ", ".join(answers[0]).strip()
        if said not in choices:
            return _refused("" if said == _NO.label else said)
        final = await asyncio.to_thread(_read, path, plan)
        self._control.change(choices[said])
        return _approved(final, choices[said], changed=final != plan)

    def _choices(self) -> list[tuple[Choice, str]]:
        """The ways to say yes, each with the mode that it enters."""
        offered = [
            (Choice("Yes, and ask before each change", "mode default"), "default"),
            (Choice("Yes, and edit files without asking", "mode acceptEdits"), "acceptEdits"),
        ]
        if self._control.can_bypass():
            offered.append(
                (Choice("Yes, and ask about nothing", "mode bypassPermissions"), "bypassPermissions")
            )
        return offered


def _approved(plan: str, mode: str, *, changed: bool) -> ToolResult:
    how = "after changing it; this is the plan that counts" if changed else "as it is"
    text = f"The user approved the plan, {how}. The mode is {mode} now. Carry it out:\n\n{plan}"
    data = {"approved": True, "mode": mode, "plan": plan, "changed": changed}
    return ToolResult(text, data=data, summary=f"approved; mode {mode}")


def _refused(comment: str) -> ToolResult:
    why = f" and says: {comment}" if comment else " and gave no reason"
    text = (
        f"The user does not approve the plan{why}. Mode plan stays and nothing was changed. Work the plan out again, "
        "or ask what should be different."
    )
    return ToolResult(text, failure=FailureKind.DENIED, summary=comment or "not approved")


def _write(path: Path, plan: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(plan + "\n")


def _read(path: Path, plan: str) -> str:
    """The plan as it stands in the file now; as it was where the file cannot be read."""
    try:
        return path.read_text("utf-8", "replace")[:SIZE_LIMIT].strip() or plan
    except OSError:
        return plan
