"""An example erasure for the API reference."""

from sealdesk.tickets.erasing.types import ErasureResponse

ERASURE = ErasureResponse(
    customer_id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    status="pending",
    ticket_count=12,
    erased_ticket_count=0,
    created_at="2026-03-02T09:14:07.102938Z",
    finished_at=None,
)
