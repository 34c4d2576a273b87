"""The tools that read: search and list tickets and customers, and read one with its replies."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from sealdesk.client import AsyncDesk
from sealdesk.client.aio.iterators import AsyncPages
from sealdesk.client.results import Ticket
from sealdesk_mcp.documents import MAX_ROWS, Document, listed, whole


def _check_number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"This is a number, and not {str(value).lower()}.")  # 1 in Python
    return value


_IsNumber = BeforeValidator(_check_number)
# Behind _IsNumber, the bounds would not be in the schema.
Limit = Annotated[int, Field(ge=1, le=MAX_ROWS, description="How many, at most."), _IsNumber]
Status = Literal["open", "pending", "on_hold", "resolved", "closed"]
Priority = Literal["low", "medium", "high", "urgent"]
TicketName = Annotated[
    int | str,
    _IsNumber,
    Field(description="The number of the ticket, such as 1042 or #1042, or its id."),
]


class ReadingTools:
    """Tools that change nothing: each public method is one, and its docstring says for what."""

    def __init__(self, desk: AsyncDesk) -> None:
        self._desk = desk

    async def search_tickets(
        self,
        query: Annotated[
            str,
            Field(
                description="Words, phrases in quotes, and filters: status:open, priority:urgent,"
                " tag:vip, from:maria, assignee:nobody, before:2026-11-01, after:2026-11-01."
            ),
        ],
        limit: Limit = 20,
    ) -> Document:
        """Search the tickets by the words in their subject, messages, customer and tags."""
        page = await _read_page(self._desk.tickets.search(query, per_page=limit))
        return {"tickets": [listed(found.ticket) for found in page.data], "has_more": page.has_more}

    async def list_tickets(
        self,
        status: list[Status] | None = None,
        priority: list[Priority] | None = None,
        customer_email: Annotated[str | None, Field(description="The customer's address.")] = None,
        updated_after: Annotated[
            str | None, Field(description="A time such as 2026-11-01T00:00:00Z.")
        ] = None,
        limit: Limit = 20,
        cursor: Annotated[str, Field(description="`next_cursor` of the page before.")] = "",
    ) -> Document:
        """List tickets, the newest first."""
        filters: dict[str, Any] = {
            "status": status,
            "priority": priority,
            "customer_email": customer_email,
            "updated_after": updated_after,
            "cursor": cursor or None,
        }
        page = await _read_page(self._desk.tickets.list(per_page=limit, **filters))
        return _list_document("tickets", page)

    async def get_ticket(self, ticket: TicketName, replies: Limit = 20) -> Document:
        """Read a ticket with its newest replies and internal notes, oldest of these first."""
        found = await find_ticket(self._desk, ticket)
        page = await _read_page(self._desk.replies.list(found.id, per_page=replies))
        return {
            "ticket": whole(found),
            "replies": [whole(reply) for reply in reversed(page.data)],
            "has_older_replies": page.has_more,
        }

    async def list_customers(
        self,
        words: Annotated[
            str, Field(description="Beginnings of words of the name, address, company or phone.")
        ] = "",
        limit: Limit = 20,
        cursor: Annotated[str, Field(description="`next_cursor` of the page before.")] = "",
    ) -> Document:
        """List customers, or find them by words."""
        filters: dict[str, Any] = {"q": words or None, "cursor": cursor or None}
        page = await _read_page(self._desk.customers.list(per_page=limit, **filters))
        return _list_document("customers", page)

    async def list_agents(self, limit: Limit = MAX_ROWS) -> Document:
        """List the people to whom tickets can be assigned, with their ids."""
        page = await _read_page(self._desk.agents())
        agents = [listed(agent) for agent in page.data[:limit]]
        return {"agents": agents, "has_more": page.has_more or len(page.data) > limit}


async def find_ticket(desk: AsyncDesk, name: int | str) -> Ticket:
    """Return the ticket of a number or an id. Raises SealdeskError, ValueError."""
    text = str(name).strip()
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()):
        return await desk.tickets.get(text)
    ticket = await desk.tickets.list(number=int(digits)).first()
    if ticket is None:
        raise ValueError(f"There is no ticket #{digits}.")
    return ticket


async def _read_page(pages: AsyncPages[Any]) -> Any:
    async for page in pages.pages():
        return page
    raise AssertionError("a list has at least one page")


def _list_document(name: str, page: Any) -> Document:
    more = {"next_cursor": page.next_cursor} if page.has_more else {}
    return {name: [listed(row) for row in page.data], "has_more": page.has_more, **more}
