"""Example values of macros for the documentation."""

from sealdesk.tickets.macros.types import MacroResponse

MACRO = MacroResponse(
    id="0199b0c8-1f20-7a41-8b62-7c8d9e0f1a2b",
    name="Refund under way",
    shortcut="refund",
    body="Hello {{customer.first_name}},\n\nyour refund for #{{ticket.number}} is under way.",
    status="pending",
    priority=None,
    assignee_id="me",
    team_id=None,
    tags=("refund",),
    created_at="2026-03-01T08:25:00.000000Z",
    updated_at="2026-03-01T08:25:00.000000Z",
)
NEW_MACRO = {
    "name": MACRO.name,
    "shortcut": MACRO.shortcut,
    "body": MACRO.body,
    "status": "pending",
    "assignee_id": "me",
    "tags": ["refund"],
}
MACRO_CHANGE = {"priority": "high", "status": None}
