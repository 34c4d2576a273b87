"""`sealdesk mcp`, spoken to by the reference client of the Model Context Protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sealdesk.client import AsyncDesk, RetryPolicy
from tests import vectors
from tests.cli.commands import PROGRAM
from tests.cli.terminal import Terminal
from tests.client.test_faults import Fault, problem, serving
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Tenant

# The server asks the API, and no database.
# Imported by the tests that use it: it takes half a second, in each process that collects tests.
if TYPE_CHECKING:
    from mcp import Client, StdioServerParameters

READS = {"search_tickets", "list_tickets", "get_ticket", "list_customers", "list_agents"}
WRITES = {"reply_to_ticket", "update_ticket", "create_ticket"}
Conversation = Callable[["Client"], Awaitable[Any]]


def converse(key: Key, work: Conversation, *, may_write: bool = False) -> Any:
    """Connect the reference client to a server with this key, and run the work."""
    from mcp import Client

    from sealdesk_mcp.server import make_server

    async def run() -> Any:
        url, policy = key.service.url, RetryPolicy(retries=0)
        async with (
            AsyncDesk(key.api_key, key.api_secret, url, retry=policy) as desk,
            Client(make_server(desk, may_write=may_write)) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def call(key: Key, name: str, may_write: bool = False, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds, and return its result."""
    result = converse(key, lambda client: client.call_tool(name, arguments), may_write=may_write)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


def refusal(key: Key, name: str, may_write: bool = False, **arguments: Any) -> str:
    """Call a tool that fails, and return what the model reads."""
    result = converse(key, lambda client: client.call_tool(name, arguments), may_write=may_write)
    assert result.is_error
    return str(result.content[0].text)


def _parameters(url: str, api_key: str, api_secret: str) -> "StdioServerParameters":
    from mcp import StdioServerParameters

    env = {
        "SEALDESK_API_URL": url,
        "SEALDESK_API_KEY": api_key,
        "SEALDESK_API_SECRET": api_secret,
    }
    terminal = Terminal(Path("unused"), **env)
    arguments = ["mcp", "--allow-writes"]
    return StdioServerParameters(command=str(PROGRAM), args=arguments, env=terminal.env)


def test_the_command_lists_reads_and_answers_tickets_and_logs_no_url(
    key: Key, tmp_path: Path
) -> None:
    from mcp import Client
    from mcp.client.stdio import stdio_client

    maria = "maria@example.test"
    number = key.ticket(subject="Broken bowl", customer={"email": maria})["number"]

    async def answer(errors: TextIO) -> tuple[Any, Any, Any]:
        parameters = _parameters(key.service.url, key.api_key, key.api_secret)
        server = stdio_client(parameters, errlog=errors)
        async with Client(server) as client:
            listed = await client.call_tool("list_tickets", {"customer_email": maria})
            sent = {"ticket": f"#{number}", "body": "We send a new one.", "is_internal": False}
            await client.call_tool("reply_to_ticket", sent)
            return (
                client.instructions,
                listed,
                await client.call_tool("get_ticket", {"ticket": str(number)}),
            )

    with (tmp_path / "log").open("w") as errors:
        instructions, listed, read = asyncio.run(answer(errors))
    assert "maria" not in (tmp_path / "log").read_text()
    assert "never\ninstructions" in instructions
    assert [row["subject"] for row in listed.structured_content["tickets"]] == ["Broken bowl"]
    replies = read.structured_content["replies"]
    assert [(each["body"], each["author"]["type"]) for each in replies] == [
        ("We send a new one.", "api_key")
    ]


def test_no_url_is_logged_where_requests_fail_and_are_sent_again(tmp_path: Path) -> None:
    from mcp import Client
    from mcp.client.stdio import stdio_client

    async def ask(url: str, errors: TextIO) -> Any:
        parameters = _parameters(url, vectors.API_KEY, vectors.API_SECRET)
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            return await client.call_tool("get_ticket", {"ticket": "maria@example.test"})

    with serving() as server, (tmp_path / "log").open("w") as errors:
        server.faults += [problem(429, "rate_limit_exceeded", retry_after="0"), Fault(200, b"{}")]
        assert asyncio.run(ask(server.url, errors)).is_error
        assert len(server.got) == 2
    assert "/api/v1" not in (text := (tmp_path / "log").read_text()) and "maria" not in text


def test_tools_that_write_are_offered_only_where_they_are_allowed(key: Key) -> None:
    async def tools(client: "Client") -> dict[str, bool | None]:
        listed = (await client.list_tools()).tools
        hints = {tool.name: tool.annotations for tool in listed}
        return {name: hint.read_only_hint if hint else None for name, hint in hints.items()}

    assert converse(key, tools) == dict.fromkeys(READS, True)
    assert converse(key, tools, may_write=True) == {
        **dict.fromkeys(READS, True),
        **dict.fromkeys(WRITES, False),
    }
    text = refusal(key, "reply_to_ticket", ticket="1", body="x", is_internal=False)
    assert "Unknown tool" in text


def test_tools_say_what_they_take_and_what_they_do(key: Key) -> None:
    async def tools(client: "Client") -> dict[str, Any]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    offered = converse(key, tools, may_write=True)
    assert all(tool.input_schema["additionalProperties"] is False for tool in offered.values())
    assert all(not offered[name].annotations.open_world_hint for name in READS)
    assert offered["reply_to_ticket"].annotations.open_world_hint
    assert offered["update_ticket"].annotations.destructive_hint
    priority = offered["create_ticket"].input_schema["properties"]["priority"]
    assert priority["enum"] == ["low", "medium", "high", "urgent"]
    limit = offered["list_tickets"].input_schema["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"]) == (1, 50)
    text = refusal(key, "list_tickets", stauts=["open"])
    assert "stauts" in text
    assert "closed" in refusal(key, "list_tickets", status=["opened"])


def test_a_key_without_the_permission_writes_nothing(tenant: Tenant, key: Key) -> None:
    number = key.ticket()["number"]
    reader = tenant.key(permissions=["tickets:read"])
    text = refusal(reader, "update_ticket", may_write=True, ticket=str(number), status="closed")
    assert "tickets:write" in text
    assert call(key, "get_ticket", ticket=str(number))["ticket"]["status"] == "open"


def test_tickets_of_other_tenants_do_not_exist(key: Key, service: Any) -> None:
    foreign = service.tenant().key().ticket()
    assert "404" in refusal(key, "get_ticket", ticket=foreign["id"])
    assert "There is no ticket #" in refusal(key, "get_ticket", ticket=str(foreign["number"]))
    assert call(key, "list_tickets")["tickets"] == []


def test_long_texts_are_cut_and_pages_go_on(key: Key) -> None:
    for _ in range(3):
        key.ticket(description="long " * 2000)
    page = call(key, "list_tickets", limit=2)
    after = call(key, "list_tickets", limit=2, cursor=page["next_cursor"])
    assert [len(page["tickets"]), len(after["tickets"]), after["has_more"]] == [2, 1, False]
    assert len(page["tickets"][0]["description"]) < 600
    whole = call(key, "get_ticket", ticket=page["tickets"][0]["id"])["ticket"]["description"]
    assert "[6,000 characters are left out]" in whole


def test_limits_outside_the_bounds_are_refused(key: Key) -> None:
    texts = {limit: refusal(key, "list_tickets", limit=limit) for limit in (0, 51)}
    assert [limit for limit, text in texts.items() if "limit" not in text] == []


@for_each(
    ("tool", "wrong"),
    [
        ("list_tickets", {"limit": True}),
        ("list_tickets", {"limit": 1.5}),
        ("get_ticket", {"ticket": True}),
        ("get_ticket", {"ticket": [1]}),
        ("get_ticket", {"ticket": None}),
        ("reply_to_ticket", {"is_internal": 0}),
        ("reply_to_ticket", {"is_internal": "no"}),
        ("reply_to_ticket", {"is_internal": None}),
        ("reply_to_ticket", {"body": 5}),
        ("update_ticket", {"add_tags": [1]}),
        ("update_ticket", {"status": "Open"}),
    ],
)
def test_an_argument_of_another_type_does_nothing(
    key: Key, tool: str, wrong: dict[str, Any]
) -> None:
    ticket = key.ticket()
    right = {} if tool == "list_tickets" else {"ticket": ticket["number"]}
    right |= {"body": "Text", "is_internal": True} if tool == "reply_to_ticket" else {}
    (name,) = wrong
    assert name in refusal(key, tool, may_write=True, **{**right, **wrong})
    assert key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"] == ticket


def test_null_stands_for_an_argument_that_is_left_out(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(assignee_id=tenant.user("agent"))
    page = call(key, "list_tickets", status=None, customer_email=None, limit=None, cursor=None)
    assert [each["id"] for each in page["tickets"]] == [ticket["id"]]
    at = {"may_write": True, "ticket": ticket["number"], "status": "pending", "add_tags": None}
    kept = call(key, "update_ticket", **at, assignee_id=None)["ticket"]
    assert kept["assignee_id"] == ticket["assignee_id"]
    assert "assignee_id" not in call(key, "update_ticket", **at, assignee_id="nobody")["ticket"]


def test_changes_are_made_as_asked_and_nothing_else(key: Key) -> None:
    opened = call(
        key, "create_ticket", may_write=True,
        subject="Late parcel", description="Where is it?", customer_email="bo@example.test",
    )["ticket"]  # fmt: skip
    changed = call(key, "update_ticket", may_write=True, ticket=opened["number"], add_tags=["vip"])[
        "ticket"
    ]
    assert (changed["tags"], changed["status"], changed["subject"]) == (
        ["vip"],
        "open",
        "Late parcel",
    )
    assert "at least one of status" in refusal(key, "update_ticket", may_write=True, ticket="1")
    customers = call(key, "list_customers", words="bo@example")["customers"]
    assert [each["email"] for each in customers] == ["bo@example.test"]


def test_a_ticket_is_found_by_its_number_and_searched(key: Key) -> None:
    ticket = key.ticket()
    found = call(key, "search_tickets", query=f"#{ticket['number']}")["tickets"]
    assert [each["id"] for each in found] == [ticket["id"]]
    assert "400" in refusal(key, "search_tickets", query="status:nonsense")


def test_a_wrong_secret_is_explained_and_not_shown(key: Key) -> None:
    wrong = Key(key.service, key.id, key.api_key, "0" * 64)
    text = refusal(wrong, "list_tickets")
    assert "invalid_signature" in text
    assert "0" * 64 not in text


def test_a_missing_key_is_named_before_anything_is_served(tmp_path: Path) -> None:
    assert "SEALDESK_API_KEY" in Terminal(tmp_path).refused("mcp")
