"""The tools that write: answer, change and open tickets. Offered with --allow-writes only."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sealdesk.client import AsyncDesk
from sealdesk_mcp.documents import Document, whole
from sealdesk_mcp.reading import Priority, Status, TicketName, find_ticket

Tags = list[str] | None
NOBODY = "nobody"


def _check_flag(value: Any) -> Any:
    # Of numbers and words such as "no", pydantic makes a guess; it decides what customers see.
    if not isinstance(value, bool) and value not in ("true", "false"):
        raise ValueError("This must be true or false.")
    return value


class WritingTools:
    """Tools that change the desk: each public method is one, and its docstring says for what."""

    def __init__(self, desk: AsyncDesk) -> None:
        self._desk = desk

    async def reply_to_ticket(
        self,
        ticket: TicketName,
        body: Annotated[str, Field(description="The text, as Markdown.")],
        is_internal: Annotated[
            bool,
            BeforeValidator(_check_flag),
            Field(description="True for a note that the customer must not see."),
        ],
    ) -> Document:
        """Write a public reply to the customer, or an internal note for colleagues."""
        found = await find_ticket(self._desk, ticket)
        reply = await self._desk.replies.create(found.id, body=body, is_internal=is_internal)
        return {"reply": whole(reply)}

    async def update_ticket(
        self,
        ticket: TicketName,
        status: Status | None = None,
        priority: Priority | None = None,
        assignee_id: Annotated[
            str | None, Field(description="The id of an agent, from list_agents, or `nobody`.")
        ] = None,
        add_tags: Annotated[Tags, Field(description="Tags to add; the others stay.")] = None,
        remove_tags: Annotated[Tags, Field(description="Tags to take away.")] = None,
    ) -> Document:
        """Change the status, priority, assignee or tags of a ticket."""
        given = {
            "status": status,
            "priority": priority,
            "assignee_id": assignee_id,
            "add_tags": add_tags,
            "remove_tags": remove_tags,
        }
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        if not changes:
            raise ValueError(f"Nothing to change: give at least one of {', '.join(given)}.")
        if assignee_id == NOBODY:
            changes["assignee_id"] = None
        found = await find_ticket(self._desk, ticket)
        return {"ticket": whole(await self._desk.tickets.update(found.id, **changes))}

    async def create_ticket(
        self,
        subject: str,
        description: Annotated[str, Field(description="The first message, as Markdown.")],
        customer_email: Annotated[str, Field(description="Who asks; added if not yet known.")],
        customer_name: str | None = None,
        priority: Priority = "medium",
    ) -> Document:
        """Open a ticket for a customer."""
        ticket = await self._desk.tickets.create(
            subject=subject,
            description=description,
            customer={"email": customer_email, "name": customer_name},
            priority=priority,
        )
        return {"ticket": whole(ticket)}
