"""AskUserQuestion: let the user choose between ways to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.description import read_description
from mcode.call import FailureKind
from mcode.tool import Choice, Effect, Placement, Preview, Question, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

NOBODY = (
    "Nobody answered: the user cannot be asked now, or declined. Do not ask again. Decide yourself, say what you "
    "decided and why, or finish if you must not go on without an answer."
)


class AskUserQuestion(Tool):
    """Asks, and waits for the answer."""

    name = "AskUserQuestion"
    effects = frozenset({Effect.ASKS_USER})
    placement = Placement.TOP_LEVEL_ONLY
    input_schema = object_schema(
        {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "minLength": 1},
                        "header": {"type": "string"},
                        "options": {
                            "type": "array",
                            "minItems": 2,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "label": {"type": "string", "minLength": 1},
                                    "description": {"type": "string"},
                                },
                                "required": ["label"],
                                "additionalProperties": False,
                            },
                        },
                        "multiSelect": {"type": "boolean"},
                    },
                    "required": ["question", "header", "options"],
                    "additionalProperties": False,
                },
            }
        },
        required=["questions"],
    )

    def __init__(self) -> None:
        self.description = read_description("ask_user_question")

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        questions = _questions(arguments)
        lines: list[str] = []
        for question in questions:
            lines.append(question.text)
            lines += [
                f"  - {choice.label}{choice.description and f': {choice.description}'}"
                for choice in question.choices
            ]
        return Preview(
            ", ".join(question.header or question.text for question in questions), "\n".join(lines)
        )

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        questions = _questions(arguments)
        answered = await services.ask(questions)
        if answered is None:
            return ToolResult(NOBODY, failure=FailureKind.TOOL_ERROR, summary="not answered")
        answers = [
            {"question": question.text, "answer": list(answer)}
            for question, answer in zip(questions, answered, strict=True)
        ]
        text = "\n".join(
            f"{each['question']}\n→ {', '.join(each['answer']) or '(no choice)'}" for each in answers
        )
        return ToolResult(text, data={"answers": answers}, summary=_count(len(answers)))


def _questions(arguments: JsonObject) -> tuple[Question, ...]:
    return tuple(
        Question(
            each["question"],
            each.get("header", ""),
            tuple(Choice(option["label"], option.get("description", "")) for option in each["options"]),
            bool(each.get("multiSelect", False)),
        )
        for each in arguments["questions"]
    )


def _count(number: int) -> str:
    return f"{number} answer{'' if number == 1 else 's'}"
