"""The index of customers, which only the worker writes."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import column_list, select_row
from sealdesk.db.engine import Row, Tx
from sealdesk.event_log.consumers import LogEvent, decode_about
from sealdesk.search import rules
from sealdesk.search.store.documents import ObjectKey, SearchIndex

_LIST_AFTER = """
SELECT tenant_id, id FROM customers WHERE (tenant_id, id) > (:tenant_id, :id)
ORDER BY tenant_id, id LIMIT :limit
"""
_TEXTS = (
    *("name", "email", "company", "phone", "external_id"),
    *("other_emails", "other_phones"),
)
_EVENTS = ("customer.created", "customer.updated", "customer.deleted", "customer.merged")
_CUSTOMER = select_row("customers", column_list(_TEXTS))
_LAST_NUMBER = "SELECT number FROM customer_documents ORDER BY number DESC LIMIT 1"
_FIND = """
SELECT number, words FROM customer_documents
WHERE tenant_id = :tenant_id AND customer_id = :id LIMIT 1
"""
_SAVE = """
INSERT INTO customer_documents (tenant_id, customer_id, number, words)
VALUES (:tenant_id, :id, :number, :words)
ON CONFLICT (tenant_id, customer_id) DO UPDATE SET words = excluded.words
WHERE customer_documents.words <> excluded.words
"""
_SAVE_ALL = """
INSERT INTO customer_documents (tenant_id, customer_id, number, words)
SELECT * FROM unnest(:tenant_ids::text[], :ids::text[], :numbers::bigint[], :words::tsvector[])
ON CONFLICT (tenant_id, customer_id) DO UPDATE SET words = excluded.words
WHERE customer_documents.words <> excluded.words
"""
_REMOVE_WORDS = """
INSERT INTO search_index_customers (search_index_customers, rowid, tenant_id, words)
VALUES ('delete', :number, :tenant_id, :words)
"""
_ADD_WORDS = """
INSERT INTO search_index_customers (rowid, tenant_id, words) VALUES (:number, :tenant_id, :words)
"""
_MERGE = """
INSERT INTO search_index_customers (search_index_customers, rank) VALUES ('merge', :pages)
"""


async def _affected_by(_: Tx, event: LogEvent) -> list[str]:
    if event.type not in _EVENTS:
        return []
    return [decode_about(event.object).id]


async def _texts_of(tx: Tx, keys: Sequence[ObjectKey]) -> list[list[str | None]]:
    found = await tx.fetch_for_each(_CUSTOMER, [key._asdict() for key in keys])
    return [_texts_of_row(rows[0]) if rows else [] for rows in found]


def _texts_of_row(row: Row) -> list[str | None]:
    phones = [row["phone"] or "", *msgspec.json.decode(row["other_phones"] or "[]")]
    return [*(row[name] for name in _TEXTS), *map(rules.phone_words, phones)]


CUSTOMERS = SearchIndex(
    name="customer_search",
    list_after=_LIST_AFTER,
    affected_by=_affected_by,
    texts_of=_texts_of,
    last_number=_LAST_NUMBER,
    find=_FIND,
    save=_SAVE,
    save_all=_SAVE_ALL,
    remove_words=_REMOVE_WORDS,
    add_words=_ADD_WORDS,
    merge=_MERGE,
)
