"""Estimates of tokens, sizes by part, and what endpoints report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.model.request import RequestState, build_request
from mcode.model.usage import (
    Correction,
    RequestSize,
    Usage,
    count_message,
    count_prefix,
    count_request,
    count_tokens,
    read_usage,
)
from tests.model.conftest import call, words

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

ENGLISH = (
    "Open the settings file with your editor, change the default timeout to thirty seconds, and restart the "
    "server. The new configuration is loaded at once, and requests that were already running keep their old limit.\n"
)
CODE = (
    "def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:\n"
    '    """Write the data beside the file and rename it into place."""\n'
    '    temporary = path.with_name(f".{path.name}.tmp-{secrets.token_hex(8)}")\n'
    "    try:\n"
    "        with temporary.open('wb') as file:\n"
    "            file.write(data)\n"
    "            os.fsync(file.fileno())\n"
    "        temporary.replace(path)\n"
    "    finally:\n"
    "        temporary.unlink(missing_ok=True)\n"
)
JSON = (
    '{"name":"list_records","description":"List records from a table","input_schema":{"type":"object",'
    '"properties":{"baseId":{"type":"string"},"maxRecords":{"type":"number"},"sort":{"type":"array",'
    '"items":{"type":"object","properties":{"field":{"type":"string"},"direction":{"type":"string",'
    '"enum":["asc","desc"]}},"required":["field"]}}},"required":["baseId","tableId"]}}'
)
CHINESE = "测试服务器在本机监听，按照脚本回答请求；连接中断时，客户端保留已经收到的内容，并在日志里写明原因。"  # noqa: RUF001 -- Chinese punctuation
JAPANESE = (
    "この関数は設定ファイルを読み込み、各フィールドを検証してから、変更できないオブジェクトを返します。"
)
KOREAN = "이 함수는 설정 파일을 읽고 각 필드를 검사한 다음 변경할 수 없는 객체를 반환합니다."
RUSSIAN = "Функция читает файл настроек, проверяет каждое поле и возвращает неизменяемый объект."
GERMAN = "Die Funktion liest die Einstellungen, prüft jedes Feld und gibt ein unveränderliches Objekt zurück."


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        (ENGLISH, 40),
        (CODE, 102),
        (JSON, 89),
        (CHINESE, 33),
        (JAPANESE, 31),
        (KOREAN, 23),
        (RUSSIAN, 23),
        (GERMAN, 19),
    ],
    ids=["english", "code", "json", "chinese", "japanese", "korean", "russian", "german"],
)
def test_estimates_are_near_exact_counts(text: str, exact: int) -> None:
    """The exact figures are o200k counts, made once with a real tokenizer."""
    assert count_tokens(text) == pytest.approx(exact, rel=0.15), "single sentences scatter more than pages"


def test_nothing_has_no_tokens_and_anything_has_some() -> None:
    assert count_tokens("") == 0
    assert all(count_tokens(text) >= 1 for text in ("a", ".", "\n", " ", "é", "中", "🙂", "\ud800", "\x00"))


def test_estimates_grow_with_the_text_and_are_the_same_each_time() -> None:
    once = count_tokens(ENGLISH * 10)
    assert once == count_tokens(ENGLISH * 10)
    assert count_tokens(ENGLISH * 20) == pytest.approx(2 * once, rel=0.01)


def test_a_long_text_without_blanks_counts_too() -> None:
    assert count_tokens("a" * 8000) > 800
    assert count_tokens("4f" * 4000) > 3000


def test_a_request_is_counted_by_part() -> None:
    tools = ({"name": "Bash", "description": "Runs a line.", "input_schema": {"type": "object"}},)
    messages = (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": [words("I will."), call(command="ls -la")]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": ENGLISH * 50},
                words("Go on."),
            ],
        },
    )
    size = count_request(build_request(RequestState("m", "Be terse.", tools, messages, 10)))
    assert size.results == pytest.approx(count_tokens(ENGLISH * 50), rel=0.02)
    assert 5 < size.definitions < 60
    assert size.system == count_tokens("Be terse.")
    assert size.total == size.definitions + size.system + size.messages + size.results
    parts = count_prefix("Be terse.", tools)
    for message in messages:
        parts = parts + count_message(message)
    assert parts == size, "counting message by message comes to the same"


def test_deferred_tools_count_once_a_result_refers_to_them() -> None:
    tool: JsonObject = {"name": "late", "description": ENGLISH, "input_schema": {}, "defer_loading": True}
    reference = {"type": "tool_reference", "tool_name": "late"}
    asked = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": [reference]}]}
    assert count_request({"tools": [tool], "messages": []}).definitions == 0
    assert count_request({"tools": [tool], "messages": [asked]}).definitions > 40


def test_images_do_not_count_as_text() -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000},
    }
    assert count_message({"role": "user", "content": [image]}).messages < 2000


def test_odd_messages_are_counted_without_a_crash() -> None:
    for content in (None, 3, "", [], [None, "x", {"type": "new", "x": float("nan")}, {"type": "document"}]):
        assert count_message({"role": "user", "content": content}).messages > 0


@pytest.mark.parametrize(
    "message",
    [
        {},
        None,
        {"usage": None},
        {"usage": 3},
        {"usage": {"input_tokens": "7", "output_tokens": None, "cache_read_input_tokens": True}},
        {"usage": {"input_tokens": -5, "cache_creation": "x", "output_tokens_details": []}},
    ],
)
def test_s_05_usage_that_is_missing_or_odd_counts_as_nothing(message: object) -> None:
    assert read_usage(message) == Usage()


def test_usage_adds_up_to_what_the_context_held() -> None:
    reported = {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_read_input_tokens": 300,
        "cache_creation_input_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    usage = read_usage({"usage": reported})
    assert usage == Usage(10, 20, 300, 40, 5)
    assert usage.total_input == 350
    assert (usage + usage).total_input == 700
    by_age = {"cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}}
    assert read_usage({"usage": by_age}).cache_written == 7


def test_parts_scale_to_a_total_exactly() -> None:
    for total in (0, 1, 999, 1000, 123_457):
        scaled = RequestSize(123, 7, 456, 789).scaled_to(total)
        assert scaled.total == total
    assert RequestSize().scaled_to(50).total == 50


def test_a_correction_learns_the_endpoints_own_way_of_counting() -> None:
    correction = Correction()
    raw = RequestSize(1000, 100, 500, 400)
    for _ in range(3):
        correction = correction.learn(correction.apply(raw), Usage(input_tokens=1000, cache_read=1500))
    assert correction.ratio == pytest.approx(1.25, rel=0.01)
    assert correction.apply(raw).total == 2500
    assert correction.learn(raw, Usage()) == correction, "a report without figures teaches nothing"
    assert Correction().learn(RequestSize(messages=10), Usage(input_tokens=10_000)).ratio == 4.0
