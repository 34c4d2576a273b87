"""Reads rows of all tenants, in the role of the worker; on SQLite there is one role."""

from sealdesk.db.engine import Row, Tx

_FAILING_ENDPOINTS = """
SELECT tenant_id, id FROM endpoints
WHERE is_active AND deleted_at IS NULL AND failing_since < :before
ORDER BY failing_since LIMIT :limit
"""
_MAILBOXES = """
SELECT m.address FROM mailboxes m
WHERE m.deleted_at IS NULL AND CASE WHEN m.is_paused THEN EXISTS (
        SELECT 1 FROM outgoing_messages o WHERE o.tenant_id = m.tenant_id
            AND o.mailbox_id = m.id AND o.due_at < :before)
    ELSE m.problem IS NOT NULL
        OR (m.receives = 'imap' AND coalesce(m.read_at, m.created_at) < :before) END
ORDER BY m.tenant_id, m.id LIMIT :limit
"""
_CONTENTS = """
SELECT a.tenant_id, a.sha256, max(a.size_bytes) AS size_bytes, min(t.number) AS number
FROM attachments a LEFT JOIN tickets t ON t.tenant_id = a.tenant_id AND t.id = a.ticket_id
WHERE (a.tenant_id, a.sha256) > (:tenant_id, :sha256)
GROUP BY a.tenant_id, a.sha256 ORDER BY a.tenant_id, a.sha256 LIMIT :limit
"""


async def list_failing_endpoints(tx: Tx, before_us: int, at_most: int) -> list[Row]:
    """Active endpoints that have failed since before a time."""
    return list(await tx.fetch_all(_FAILING_ENDPOINTS, {"before": before_us, "limit": at_most}))


async def list_stuck_mailboxes(tx: Tx, before_us: int, at_most: int) -> list[Row]:
    """Mailboxes with a problem, whose folder was not read to its end since a time, or that are
    paused while a message waits since then.
    """
    return list(await tx.fetch_all(_MAILBOXES, {"before": before_us, "limit": at_most}))


async def list_contents(tx: Tx, after: tuple[str, str], at_most: int) -> list[Row]:
    """What rows of attachments need, behind a tenant and SHA-256."""
    params = {"tenant_id": after[0], "sha256": after[1], "limit": at_most}
    return list(await tx.fetch_all(_CONTENTS, params))
