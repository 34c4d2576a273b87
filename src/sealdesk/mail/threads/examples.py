"""Example participants for the API reference."""

from sealdesk.mail.threads.types import ParticipantListResponse, ParticipantResponse

PARTICIPANTS = ParticipantListResponse(
    (
        ParticipantResponse("ann@example.test", "Ann", "2026-03-01T08:25:00.000000Z"),
        ParticipantResponse("ben@example.test", None, "2026-03-02T09:15:41.842000Z"),
    )
)
CHANGE = {"participants": [{"email": "ann@example.test", "name": "Ann"}]}
