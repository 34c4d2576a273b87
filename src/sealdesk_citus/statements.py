"""Statements of the core that run otherwise where tables are distributed over nodes."""

from sealdesk.mail.sending import store as sending
from sealdesk.search.indexing import INDEXES
from sealdesk.tickets.snoozing import store as snoozing
from sealdesk.webhooks.store import deliveries
from sealdesk_citus import store

_LIST_DUE = """
SELECT d.tenant_id, d.id, d.version, d.per_minute, d.is_failing FROM (
    SELECT m.tenant_id, m.id, m.version, m.per_minute, m.problem IS NOT NULL AS is_failing,
        (SELECT min(o.due_at) FROM outgoing_messages o WHERE o.tenant_id = m.tenant_id
            AND o.mailbox_id = m.id AND o.due_at <= :now
            AND (o.leased_until IS NULL OR o.leased_until <= :now)) AS due_at
    FROM mailboxes m
    WHERE m.deleted_at IS NULL AND NOT m.is_paused AND m.smtp_host IS NOT NULL
) d WHERE d.due_at IS NOT NULL ORDER BY d.is_failing, d.due_at, d.id LIMIT :limit
"""

REPLACED = {
    sending.LIST_DUE: _LIST_DUE,
    # FTS5 alone needs numbers that no other document has.
    **{index.last_number: "SELECT 0 AS number LIMIT 1" for index in INDEXES},
}
# Repeated looks for work of all tenants: see `local_shards`.
NEARBY = frozenset({_LIST_DUE, deliveries.FIND_BACKLOG, snoozing.PRUNE_ENDED, store.LIST_TENANTS})
# Changes of rows of several tenants, given in arrays: the statement that changes one of the rows.
ARRAYS = {"tenant_id": "tenant_ids", "id": "ids", "number": "numbers", "words": "words"}
CHANGED_EACH = {index.save_all: index.save for index in INDEXES}
