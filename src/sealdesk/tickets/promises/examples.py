"""Example values of SLA policies for the documentation."""

from sealdesk.tickets.promises.types import PolicyResponse

POLICY = PolicyResponse(
    id="0199b0c8-2a10-7b41-8c62-7c8d9e0f1a2d",
    name="Urgent",
    position=1,
    priorities=("urgent",),
    team_ids=(),
    tags=(),
    customers=(),
    first_response_minutes=60,
    next_response_minutes=120,
    resolution_minutes=480,
    counts="calendar",
    pauses_on=("pending",),
    warning_minutes=15,
    version=1,
    created_at="2026-03-01T08:25:00.000000Z",
    updated_at="2026-03-01T08:25:00.000000Z",
)
NEW_POLICY = {
    "name": POLICY.name,
    "priorities": ["urgent"],
    "first_response_minutes": 60,
    "next_response_minutes": 120,
    "resolution_minutes": 480,
    "counts": "calendar",
    "pauses_on": ["pending"],
    "warning_minutes": 15,
}
POLICY_CHANGE = {"first_response_minutes": 30}
