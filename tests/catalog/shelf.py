"""A small catalogue of made-up tools for the tests of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.catalog.entry import Entry
from mcode.catalog.search import ToolIndex

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


def tool(
    server: str, name: str, description: str, *parameters: str, title: str = "", hint: str = ""
) -> Entry:
    """A tool of a server, with parameters that are all text."""
    properties: JsonObject = {parameter: {"type": "string"} for parameter in parameters}
    return Entry(
        name=f"mcp__{server}__{name}",
        server=server,
        title=title,
        description=description,
        input_schema={"type": "object", "properties": properties},
        hint=hint,
    )


SHELF = (
    tool(
        "forge", "create_pull_request", "Propose the commits of a branch for review.", "title", "base", "head"
    ),
    tool(
        "forge", "merge_pull_request", "Bring a reviewed proposal into its base branch.", "number", "method"
    ),
    tool("forge", "list_issues", "Show the open issues of a repository.", "repository", "label"),
    tool("forge", "create_issue", "Open an issue in a repository.", "repository", "title", "body"),
    tool("forge", "delete_branch", "Remove a branch.", "repository", "branch"),
    tool("tracker", "createIssue", "File an issue on the board of a team.", "team", "title"),
    tool("tracker", "search", "Full text search over everything on the boards.", "text"),
    tool("mailer", "send-message", "Send a message to one or more recipients.", "to", "subject", "body"),
    tool("mailer", "search", "Look through the mailbox.", "text", "since"),
    tool("chat", "post_message", "Write into a channel.", "channel", "text"),
    tool("chat", "list_channels", "All channels that you may see.", "limit"),
    tool("kube", "pods_list", "Pods of a namespace.", "namespace"),
    tool("kube", "deployment_scale", "Set the number of replicas of a deployment.", "name", "replicas"),
    tool("kube", "rollout_restart", "Restart all pods of a deployment, one after the other.", "name"),
    tool("pages", "take_screenshot", "Picture of the page that is open.", "format"),
    tool("pages", "click_element", "Click something on the page.", "selector"),
    tool("pages", "navigate", "Go to a URL.", "url"),
    tool("disk", "move_file", "Move or rename a file.", "source", "destination"),
    tool("disk", "read_file", "The whole content of a file.", "path"),
    tool("disk", "delete_file", "Erase a file for good.", "path"),
    tool("shop", "create_refund", "Give a payment back, wholly or in part.", "payment", "amount"),
    tool("shop", "list_invoices", "Invoices of a customer, newest first.", "customer"),
    tool("charts", "pie", "Draws a pie chart of some shares.", "data"),
    tool("charts", "bars", "Draws a bar chart that compares amounts.", "data"),
    tool("weather", "forecast", "What the weather will be in the next days.", "latitude", "longitude"),
    tool("travel", "flights", "Find flights between two airports.", "from", "to", "day"),
    tool("tables", "run_query", "Run an SQL query and return the rows.", "sql"),
    tool("tables", "describe_table", "Columns of a table, with their types.", "table"),
    tool("music", "skip", "Go on to the next track.", "device"),
    tool("voice", "speak", "Read a text aloud with a voice of your choice.", "text", "voice"),
    Entry(name="NotebookEdit", description="Change a cell of a Jupyter notebook."),
)


def shelf() -> ToolIndex:
    """The index of all of them."""
    return ToolIndex.build(SHELF)


def found(index: ToolIndex, query: str, k: int = 3, server: str | None = None) -> list[str]:
    """What a query finds, by `server/tool`."""
    return [short(hit.name) for hit in index.search(query, k, server).hits]


def short(name: str) -> str:
    """`server/tool` of a full name; mcode's own tools as they are."""
    return name.removeprefix("mcp__").replace("__", "/", 1)
