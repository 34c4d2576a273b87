"""Example tickets and replies for the API reference."""

import msgspec

from sealdesk.customers.examples import CUSTOMER
from sealdesk.customers.types import CustomerRef
from sealdesk.tickets.ticket.types import Author, ReplyResponse, Satisfaction, TicketResponse

TICKET = TicketResponse(
    id="0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a",
    number=1042,
    subject="The glaze on my order arrived cracked",
    description="Two of the six bowls in order 7731 have cracks. Photos follow.",
    status="open",
    priority="high",
    source="api",
    assignee_id=None,
    team_id=None,
    tags=("refund", "shipping"),
    custom_fields={},
    external_id="order-7731",
    reply_count=0,
    merged_into_id=None,
    snoozed_until=None,
    created_at="2026-03-02T09:15:41.556301Z",
    updated_at="2026-03-02T09:15:41.556301Z",
    first_response_at=None,
    resolved_at=None,
    closed_at=None,
    last_reply_by=None,
    last_customer_reply_at=None,
    waiting_since="2026-03-02T09:15:41.556301Z",
    version=1,
    customer=CustomerRef(CUSTOMER.id, CUSTOMER.email, CUSTOMER.name),
)
RATED_TICKET = msgspec.structs.replace(
    TICKET,
    status="resolved",
    satisfaction=Satisfaction(5, "Both bowls arrived whole.", "2026-03-04T08:11:09.120533Z"),
)
NEW_TICKET = {
    "subject": TICKET.subject,
    "description": TICKET.description,
    "priority": "high",
    "customer": {"email": CUSTOMER.email, "name": CUSTOMER.name},
    "tags": ["refund", "shipping"],
    "external_id": "order-7731",
}
TICKET_CHANGE = {"status": "pending", "priority": "urgent", "custom_fields": {"batch": "K-12"}}
REPLY = ReplyResponse(
    id="0199c0e4-02aa-7001-8d3c-1b2a39485766",
    ticket_id=TICKET.id,
    body="We have sent two new bowls today.",
    is_internal=False,
    author=Author("api_key", "0199b000-4c5d-7e6f-8a9b-0c1d2e3f4a5b", "Shop integration"),
    created_at="2026-03-02T10:02:18.004417Z",
)
NOTE = ReplyResponse(
    id="0199c0e5-11bb-7203-9a4e-2c3b4a596877",
    ticket_id=TICKET.id,
    body="Ask the studio whether batch 77 has cracks.",
    is_internal=True,
    author=Author("agent", "0199b000-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "Ada"),
    created_at="2026-03-02T10:03:27.611938Z",
)
NEW_REPLY = {"body": REPLY.body, "is_internal": False}
