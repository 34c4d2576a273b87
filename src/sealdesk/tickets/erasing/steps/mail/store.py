"""The SQL with which the worker erases a customer in the tables of e-mail."""

from sealdesk.db.column_lists import delete_row
from sealdesk.tickets.erasing.rules import ERASED
from sealdesk.tickets.erasing.steps.logs.store import Log

_PARTICIPANTS = """
SELECT p.ticket_id, p.address_identity, t.customer_id
FROM ticket_participants p JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = p.ticket_id
WHERE p.tenant_id = :tenant_id AND (p.ticket_id, p.address_identity) > (:after, :after_2)
ORDER BY p.ticket_id, p.address_identity LIMIT :limit
"""
_DELETE_PARTICIPANT = delete_row("ticket_participants", "tenant_id ticket_id address_identity")
_RECEIVED = """
SELECT m.id, m.from_identity AS address, m.subject, m.reason, t.customer_id
FROM received_messages m LEFT JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND m.id > :after ORDER BY m.id LIMIT :limit
"""
# Retention deletes the raw message, whose time is over then.
_ERASE_RECEIVED = f"""
UPDATE received_messages SET from_identity = '{ERASED}', subject = '{ERASED}', reason = NULL,
    envelope = NULL, message_key = :message_key,
    raw_until = CASE WHEN raw_until IS NULL THEN NULL ELSE CAST(:raw_until AS BIGINT) END
WHERE tenant_id = :tenant_id AND id = :id
"""
_OUTGOING = """
SELECT m.id, m.address, m.reason, t.customer_id
FROM outgoing_messages m LEFT JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = m.ticket_id
WHERE m.tenant_id = :tenant_id AND m.id > :after ORDER BY m.id LIMIT :limit
"""
# Without its lease, an attempt that is under way stores no result.
_ERASE_OUTGOING = """
UPDATE outgoing_messages SET address = :address, reason = NULL, due_at = NULL, leased_until = NULL,
    state = CASE WHEN state = 'queued' THEN 'failed' ELSE state END
WHERE tenant_id = :tenant_id AND id = :id
"""

_SUBMISSIONS = """
SELECT id, address_identity AS address, request FROM form_submissions
WHERE tenant_id = :tenant_id AND id > :after ORDER BY id LIMIT :limit
"""
_DELETE_SUBMISSION = delete_row("form_submissions")

PARTICIPANTS = Log(
    _PARTICIPANTS,
    _DELETE_PARTICIPANT,
    key=("ticket_id", "address_identity"),
    large=("address_identity",),
)
RECEIVED = Log(_RECEIVED, _ERASE_RECEIVED, large=("subject", "reason"))
OUTGOING = Log(_OUTGOING, _ERASE_OUTGOING, large=("reason",))
SUBMISSIONS = Log(_SUBMISSIONS, _DELETE_SUBMISSION, large=("request",))
