"""The search as a model meets it: what is asked, and what comes first."""

from __future__ import annotations

import pytest

from mcode.catalog.entry import Entry
from mcode.catalog.search import ToolIndex
from mcode.catalog.vocabulary.load import vocabulary
from tests.catalog.shelf import SHELF, found, shelf, short, tool

INDEX = shelf()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("merge pull request", "forge/merge_pull_request"),
        ("read a file from disk", "disk/read_file"),
        ("scale a deployment", "kube/deployment_scale"),
        ("I need a tool that posts into a channel", "chat/post_message"),
        ("which columns does this table have?", "tables/describe_table"),
        ("screenshots", "pages/take_screenshot"),
        ("moving files", "disk/move_file"),
        ("weather forecasts", "weather/forecast"),
    ],
)
def test_plain_words_find_the_tool(query: str, first: str) -> None:
    assert found(INDEX, query, 1) == [first]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("open a PR", "forge/create_pull_request"),
        ("new merge request", "forge/create_pull_request"),
        ("k8s pods", "kube/pods_list"),
        ("erase a document", "disk/delete_file"),
        ("file a bug", "forge/create_issue"),
        ("grab a picture of the screen", "pages/take_screenshot"),
        ("give the customer their money back", "shop/create_refund"),
        ("tts", "voice/speak"),
        ("rename something on disk", "disk/move_file"),
        ("more replicas please", "kube/deployment_scale"),
        ("is it going to rain tomorrow", "weather/forecast"),
        ("plane tickets", "travel/flights"),
        ("drop a line to somebody by mail", "mailer/send-message"),
        ("compare values side by side in a chart", "charts/bars"),
        ("mv", "disk/move_file"),
        ("cat a file", "disk/read_file"),
    ],
)
def test_other_words_for_it_find_the_tool_too(query: str, wanted: str) -> None:
    assert wanted in found(INDEX, query, 3)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("创建拉取请求", "forge/create_pull_request"),
        ("删除文件", "disk/delete_file"),
        ("給客戶退款", "shop/create_refund"),
        ("画一个饼图", "charts/pie"),
        ("天气预报", "weather/forecast"),
        ("航班查询", "travel/flights"),
        ("ファイルを削除する", "disk/delete_file"),
        ("スクリーンショットを撮って", "pages/take_screenshot"),
        ("チャンネルにメッセージを送信", "chat/post_message"),
        ("파일 삭제", "disk/delete_file"),
        ("Datei löschen", "disk/delete_file"),
        ("Rechnungen eines Kunden anzeigen", "shop/list_invoices"),
        ("Kreisdiagramm zeichnen", "charts/pie"),
        ("supprimer un fichier", "disk/delete_file"),
        ("lister les factures du client", "shop/list_invoices"),
        ("eliminar un archivo", "disk/delete_file"),
        ("enviar un mensaje al canal", "chat/post_message"),
        ("excluir um arquivo", "disk/delete_file"),
        ("удалить файл", "disk/delete_file"),
        ("прогноз погоды", "weather/forecast"),
        ("cancellare una cartella o un file", "disk/delete_file"),
    ],
)
def test_questions_in_other_languages_find_english_tools(query: str, wanted: str) -> None:
    assert wanted in found(INDEX, query, 3)


def test_english_questions_find_tools_described_in_chinese() -> None:
    index = ToolIndex.build(
        [*SHELF, tool("rail", "cx", "查询火车票余票"), tool("menu", "cp", "推荐今天的菜谱")]
    )
    assert "rail/cx" in found(index, "train tickets that are left")
    assert "menu/cp" in found(index, "recommend a recipe")
    assert found(index, "火车票", 1) == ["rail/cx"]


@pytest.mark.parametrize(
    "name",
    [
        "mcp__forge__merge_pull_request",
        "merge_pull_request",
        "Merge-Pull-Request",
        "mergePullRequest",
        "forge/merge_pull_request",
        "forge.merge_pull_request",
        "  merge_pull_request  ",
    ],
)
def test_a_name_selects_its_tool_whatever_its_case_and_punctuation(name: str) -> None:
    hit = INDEX.search(name, 3).hits[0]
    assert short(hit.name) == "forge/merge_pull_request"
    assert hit.exact


def test_a_name_that_two_servers_use_selects_both() -> None:
    hits = INDEX.search("search", 5).hits
    assert {short(hit.name) for hit in hits if hit.exact} == {"tracker/search", "mailer/search"}
    assert [hit.exact for hit in hits[:2]] == [True, True]


def test_the_same_name_in_another_spelling_is_the_same_name() -> None:
    hits = [hit for hit in INDEX.search("create_issue", 5).hits if hit.exact]
    assert {short(hit.name) for hit in hits} == {"forge/create_issue", "tracker/createIssue"}


def test_a_name_within_a_sentence_comes_first() -> None:
    assert found(INDEX, "call rollout_restart on the web deployment", 1) == ["kube/rollout_restart"]
    assert found(INDEX, "is there mcp__disk__read_file here", 1) == ["disk/read_file"]


def test_builtins_are_found_by_name_and_by_words() -> None:
    assert found(INDEX, "notebookedit", 1) == ["NotebookEdit"]
    assert found(INDEX, "edit a jupyter cell", 1) == ["NotebookEdit"]


def test_select_gives_exactly_the_named_tools_in_their_order() -> None:
    hits = INDEX.search("select:pods_list, create_refund", 5).hits
    assert [(short(hit.name), hit.exact) for hit in hits] == [
        ("kube/pods_list", True),
        ("shop/create_refund", True),
    ]
    assert found(INDEX, "SELECT: skip", 5) == ["music/skip"]


def test_select_of_a_name_that_does_not_exist_gives_the_nearest_and_says_no_match() -> None:
    result = INDEX.search("select:list_pods_of_namespace", 3)
    assert result.no_match or short(result.hits[0].name) == "kube/pods_list"
    assert not any(hit.exact for hit in result.hits)


def test_a_pattern_matches_names_before_descriptions() -> None:
    assert found(INDEX, "/^list_/", 10) == ["chat/list_channels", "forge/list_issues", "shop/list_invoices"]
    assert found(INDEX, "/INVOICES? of/", 5) == ["shop/list_invoices"]
    assert INDEX.search("/nothing_like_it/", 5).no_match


def test_a_word_with_a_plus_must_occur() -> None:
    assert set(found(INDEX, "+branch delete", 10)) == {
        "forge/delete_branch",
        "forge/create_pull_request",
        "forge/merge_pull_request",
    }
    assert found(INDEX, "+branch delete", 1) == ["forge/delete_branch"]
    assert found(INDEX, "+zebra delete", 10) == []
    assert INDEX.search("+zebra delete", 10).no_match


def test_a_server_can_be_named_beside_the_query() -> None:
    assert found(INDEX, "create issue", 5, server="tracker")[0] == "tracker/createIssue"
    assert all(name.startswith("tracker/") for name in found(INDEX, "create issue", 5, server="Tracker"))
    assert INDEX.search("create issue", 5, server="tracker").searched == 2
    assert found(INDEX, "/./", 9, server="music") == ["music/skip"]


def test_a_server_within_the_query_counts_too() -> None:
    assert found(INDEX, "open an issue on tracker", 1) == ["tracker/createIssue"]
    assert found(INDEX, "server: forge\ntool: create issue", 1) == ["forge/create_issue"]


def test_a_query_for_two_things_finds_both() -> None:
    names = found(INDEX, "take a screenshot of the page and then post it into the channel", 4)
    assert {"pages/take_screenshot", "chat/post_message"} <= set(names)


def test_what_is_to_be_done_decides_between_tools_for_the_same_thing() -> None:
    assert found(INDEX, "remove the file", 1) == ["disk/delete_file"]
    assert found(INDEX, "show me the file", 1) == ["disk/read_file"]


@pytest.mark.parametrize(
    "query",
    ["schedule a meeting next tuesday", "put lunch in my calendar", "reschedule my meeting with anna"],
)
def test_a_meeting_is_an_event_of_a_calendar(query: str) -> None:
    index = ToolIndex.build(
        [
            tool("pager", "list_oncall_schedules", "List all schedules of people who are on call."),
            tool("office", "manage_event", "Manages events of calendars: creating, updating, deleting."),
            tool("disk", "move_file", "Move a file."),
        ]
    )
    assert found(index, query, 1) == ["office/manage_event"]


def test_a_slip_of_the_finger_is_forgiven() -> None:
    assert found(INDEX, "take a screnshot", 1) == ["pages/take_screenshot"]
    assert found(INDEX, "rollout retsart", 1) == ["kube/rollout_restart"]


def test_words_written_together_or_apart_are_the_same() -> None:
    assert found(INDEX, "screen shot", 1) == ["pages/take_screenshot"]
    assert found(INDEX, "readfile", 1) == ["disk/read_file"]
    assert found(INDEX, "barchart", 1) == ["charts/bars"]


def test_parameters_and_choices_are_searched() -> None:
    index = ToolIndex.build(
        [
            *SHELF,
            Entry(
                name="mcp__paint__make",
                server="paint",
                description="Makes something.",
                input_schema={
                    "type": "object",
                    "properties": {
                        "style": {"enum": ["watercolour", "charcoal"]},
                        "brushWidth": {"type": "number"},
                    },
                },
            ),
        ]
    )
    assert found(index, "charcoal", 1) == ["paint/make"]
    assert found(index, "brush width", 1) == ["paint/make"]


def test_the_users_own_hints_and_aliases_are_searched() -> None:
    plain = tool("acme", "op7", "Does it.")
    index = ToolIndex.build([*SHELF, tool("acme", "op8", "Does it.", hint="quarterly payroll run"), plain])
    assert found(index, "payroll", 1) == ["acme/op8"]
    aliased = Entry(
        name="mcp__acme__op9", server="acme", description="Does it.", aliases=("frobnicate_widget",)
    )
    index = ToolIndex.build([*SHELF, aliased])
    assert INDEX.search("frobnicate_widget").no_match
    assert index.search("frobnicate widget").hits[0].exact


@pytest.mark.parametrize("query", ["knit a woollen scarf", "water the tulips", "apply for a passport"])
def test_what_no_tool_does_has_no_match(query: str) -> None:
    assert INDEX.search(query).no_match


@pytest.mark.parametrize(
    "query",
    [
        "delete file",
        "删除文件",
        "please send an email to Barbara at Fantasyland Ltd about 4711",
        "pods in prod-eu-7",
    ],
)
def test_names_and_numbers_that_no_tool_knows_do_not_make_it_one(query: str) -> None:
    assert not INDEX.search(query).no_match


def test_every_phrase_of_the_vocabulary_is_a_query_alone_and_as_a_clause() -> None:
    few = ToolIndex.build([tool("ops", "health_check", "Reports the health of the cluster."), *SHELF[:5]])
    for phrase in map(" ".join, vocabulary().meanings):
        assert all(hit.score > 0 for hit in few.search(f"{phrase}, list").hits), phrase


def test_words_of_the_vocabulary_that_only_stand_for_others_find_those() -> None:
    health = ToolIndex.build([*SHELF, tool("ops", "health_check", "Reports the health of the cluster.")])
    assert found(health, "is going", 1) == ["ops/health_check"]
    assert "ops/health_check" in found(health, "how is it going, is going nuts", 3)


def test_an_empty_query_finds_nothing_and_says_so() -> None:
    for query in ("", "   ", "?!", "+"):
        result = INDEX.search(query)
        assert result.no_match
        assert result.searched == len(SHELF)


def test_an_empty_index_answers() -> None:
    result = ToolIndex.build([]).search("anything", 5)
    assert (result.hits, result.no_match, result.searched) == ((), True, 0)


def test_results_are_as_many_as_asked_for_and_always_the_same() -> None:
    assert len(INDEX.search("create list delete file issue", 7).hits) == 7
    assert INDEX.search("create issue", 0).hits == ()
    assert INDEX.search("list things", 20) == shelf().search("list things", 20)


def test_a_servers_tools_can_be_replaced_and_removed() -> None:
    index = shelf()
    index.replace_server("disk", [tool("disk", "burn_disc", "Write files onto a disc.")])
    assert len(index) == len(SHELF) - 2
    assert "disk/move_file" not in found(index, "move file", 10)
    assert found(index, "burn a disc", 1) == ["disk/burn_disc"]
    index.replace_server("disk", [])
    assert index.named("burn_disc") == ()
    assert found(index, "merge pull request", 1) == ["forge/merge_pull_request"]
    index.replace_server("fresh", [tool("fresh", "brew", "Makes coffee.")])
    assert found(index, "coffee", 1) == ["fresh/brew"]


def test_replacing_leads_to_the_same_index_as_building() -> None:
    index = ToolIndex.build([])
    for server in sorted({entry.server for entry in SHELF}):
        index.replace_server(server, [entry for entry in SHELF if entry.server == server])
    for query in ("merge", "删除文件", "send a message"):
        assert set(found(index, query, 40)) == set(found(INDEX, query, 40))


def test_names_can_be_asked_for_directly() -> None:
    assert INDEX.named("SKIP") == ("mcp__music__skip",)
    assert INDEX.named("mcp__music__skip") == ("mcp__music__skip",)
    assert INDEX.named("no such thing") == ()


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+$", "(a|b)*c", "a*b*c*d*e*", "([", "x" * 500, r"(.)\1", "a{1,99999999999}"),
        *(".?" * 60 + "Z", ".{0,60}" * 4 + "Z", ".{,9}" * 9 + "Z", ".*.*.?.*Z"),
    ],
)
def test_a_pattern_that_is_wrong_or_could_take_for_ever_is_refused_with_a_reason(pattern: str) -> None:
    result = INDEX.search(f"/{pattern}/")
    assert result.no_match
    assert result.hits == ()
    assert "the pattern" in result.fault


def test_patterns_as_models_write_them_are_matched() -> None:
    for pattern in ("^mcp__forge__.*pull_?requests?$", "(?:merge|create)_.{0,9}request", "pull.*?request.*?"):
        assert "forge/create_pull_request" in found(INDEX, f"/{pattern}/", 9)


def test_hostile_tools_do_no_harm() -> None:
    loop: dict[str, object] = {"type": "object"}
    loop["properties"] = {"again": loop}
    odd = [
        Entry(name="mcp__evil__" + "a" * 5_000, server="evil", description="x" * 300_000),
        Entry(name="mcp__evil__b", server="evil", description="create " * 50_000, input_schema=loop),
        Entry(
            name="mcp__evil__c",
            server="evil",
            input_schema={"properties": [1, 2], "enum": {"a": 1}, "anyOf": 7},
        ),
        Entry(name="", server="", description="\x00\x1b[2J\ud800"),
        Entry(name="mcp__evil__图" + "图" * 900, server="evil", description="图" * 50_000),
        Entry(name="mcp____", server="evil", description=""),
    ]
    index = ToolIndex.build([*SHELF, *odd])
    assert found(index, "create a pull request", 1) == ["forge/create_pull_request"]
    assert index.search("图图图").searched == len(SHELF) + len(odd)
    index.search("x" * 100_000)
    index.search("word " * 20_000)
    index.search("图" * 20_000)


def test_a_word_repeated_a_thousand_times_wins_nothing() -> None:
    stuffed = tool("spam", "do", "weather forecast " * 1_000)
    assert found(ToolIndex.build([*SHELF, stuffed]), "weather forecast", 1) == ["weather/forecast"]
