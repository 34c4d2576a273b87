"""Example values of received messages for the documentation."""

import msgspec

from sealdesk.mail.received_messages.types import ReceivedMessageResponse

HELD = ReceivedMessageResponse(
    id="0199b0d1-2a40-7c52-9d74-8e9f0a1b2c3d",
    mailbox_id="0199b0d1-1f20-7a41-8b62-7c8d9e0f1a2b",
    from_address="ann@example.test",
    subject="A broken bowl",
    outcome="held",
    reason="more than 10 new tickets in 10 minutes",
    size_bytes=4821,
    ticket_id=None,
    reply_id=None,
    received_at="2026-03-02T09:15:41.842000Z",
    raw_until="2026-04-01T09:15:41.842000Z",
)
RELEASED = msgspec.structs.replace(
    HELD,
    outcome="ticket",
    reason="released by a person",
    ticket_id="0199b0d1-3b51-7d63-8e85-9f0a1b2c3d4e",
)
ADDED = msgspec.structs.replace(
    RELEASED,
    outcome="note",
    reason="no participant, added later",
    reply_id="0199b0d1-4c62-7e74-8f96-0a1b2c3d4e5f",
)
MOVED = msgspec.structs.replace(RELEASED, reason="no participant, opened as a ticket")
