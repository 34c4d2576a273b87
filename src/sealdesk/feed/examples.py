"""Example values of the event feed for the API documentation."""

from sealdesk.feed.rules import EventData, EventResponse
from sealdesk.web.envelope import EXAMPLE_CURSOR, FeedMeta

EVENT = EventResponse(
    id="0199c0f2-6c3e-7a41-9d20-5b6c7d8e9f01",
    type="customer.updated",
    timestamp="2026-03-02T09:31:12.190257Z",
    data=EventData(
        object={
            "id": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
            "email": "maria.santos@example.com",
            "name": "Maria Santos-Lima",
            "phone": None,
            "company": "Santos Ceramics",
            "external_id": "C-1042",
            "metadata": {"plan": "pro"},
            "created_at": "2026-03-02T09:14:07.102938Z",
            "updated_at": "2026-03-02T09:31:12.190257Z",
            "version": 2,
        },
        changes={"name": ("Maria Santos", "Maria Santos-Lima")},
    ),
)
META = FeedMeta(25, has_more=False, next_cursor=None, resume_cursor=EXAMPLE_CURSOR)
