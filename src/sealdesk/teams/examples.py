"""Example teams for the API reference."""

from sealdesk.teams.types import MemberResponse, TeamRef, TeamResponse

TEAM = TeamResponse(
    id="0199b0d1-3e4f-7a5b-8c6d-7e8f9a0b1c2d",
    name="Returns",
    assignment="round_robin",
    capacity=10,
    created_at="2026-03-01T08:45:00.000000Z",
    deleted_at=None,
)
NEW_TEAM = {"name": TEAM.name, "assignment": "round_robin", "capacity": 10}
TEAM_CHANGE = {"capacity": 15}
MEMBER = MemberResponse(
    id="0199b000-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    name="Ada",
    is_active=True,
    is_present=True,
    is_away=False,
    open_ticket_count=4,
    capacity=5,
)
NEW_MEMBER = {"user_id": MEMBER.id, "capacity": 5}
TEAM_REF = TeamRef(TEAM.id, TEAM.name)
