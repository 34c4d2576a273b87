"""The index of tickets, which only the worker writes."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.event_log.consumers import LogEvent, decode_about
from sealdesk.search import rules
from sealdesk.search.store.documents import ObjectKey, SearchIndex

_LIST_AFTER = """
SELECT tenant_id, id FROM tickets WHERE (tenant_id, id) > (:tenant_id, :id)
ORDER BY tenant_id, id LIMIT :limit
"""
_OF_CUSTOMER = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND customer_id = :customer_id
ORDER BY id DESC LIMIT :limit
"""
_TICKET = """
SELECT t.number, t.subject, substr(t.description, 1, 20000) AS description, t.tags,
    t.custom_fields, c.email, c.name, c.company
FROM tickets t JOIN customers c ON c.tenant_id = :tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id AND t.id = :id LIMIT 1
"""
# The newest ones only: a document serves to find a ticket, and is bounded.
_REPLIES = """
SELECT substr(body, 1, 4000) AS body FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :id
ORDER BY id DESC LIMIT :limit
"""
_LAST_NUMBER = "SELECT number FROM search_documents ORDER BY number DESC LIMIT 1"
_FIND = """
SELECT number, words FROM search_documents
WHERE tenant_id = :tenant_id AND ticket_id = :id LIMIT 1
"""
_SAVE = """
INSERT INTO search_documents (tenant_id, ticket_id, number, words)
VALUES (:tenant_id, :id, :number, :words)
ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET words = excluded.words
WHERE search_documents.words <> excluded.words
"""
_SAVE_ALL = """
INSERT INTO search_documents (tenant_id, ticket_id, number, words)
SELECT * FROM unnest(:tenant_ids::text[], :ids::text[], :numbers::bigint[], :words::tsvector[])
ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET words = excluded.words
WHERE search_documents.words <> excluded.words
"""
_REMOVE_WORDS = """
INSERT INTO search_index (search_index, rowid, tenant_id, words)
VALUES ('delete', :number, :tenant_id, :words)
"""
_ADD_WORDS = """
INSERT INTO search_index (rowid, tenant_id, words) VALUES (:number, :tenant_id, :words)
"""
_MERGE = "INSERT INTO search_index (search_index, rank) VALUES ('merge', :pages)"
_MAX_REPLIES = 100
_MAX_TICKETS_OF_CUSTOMER = 100  # the newest ones get the new name of their customer


async def _affected_by(tx: Tx, event: LogEvent) -> list[str]:
    if event.type in ("ticket.created", "ticket.updated"):
        return [decode_about(event.object).id]
    if event.type in ("reply.created", "reply.updated"):
        return [decode_about(event.object).ticket_id]
    if event.type != "customer.updated":
        return []
    customer_id = decode_about(event.object).id
    params = {"customer_id": customer_id, "limit": _MAX_TICKETS_OF_CUSTOMER}
    rows = await tx.fetch_all(_OF_CUSTOMER, {"tenant_id": event.tenant_id, **params})
    return [row["id"] for row in reversed(rows)]


async def _texts_of(tx: Tx, keys: Sequence[ObjectKey]) -> list[list[str | None]]:
    params = [key._asdict() for key in keys]
    tickets = await tx.fetch_for_each(_TICKET, params)
    replies = await tx.fetch_for_each(_REPLIES, [{**of, "limit": _MAX_REPLIES} for of in params])
    return [
        _with_phones([*_texts_of_row(rows[0]), *(reply["body"] for reply in bodies)])
        if rows
        else []
        for rows, bodies in zip(tickets, replies, strict=True)
    ]


def _with_phones(texts: list[str | None]) -> list[str | None]:
    return [*texts, rules.phones_in(texts)]


def _texts_of_row(row: Row) -> list[str | None]:
    tags: list[str] = msgspec.json.decode(row["tags"])
    texts = [str(row["number"]), row["subject"], row["email"], row["name"], row["company"]]
    custom_fields: dict[str, Any] = msgspec.json.decode(row["custom_fields"])
    texts += [*tags, " ".join(map(rules.tag_word, tags)), _texts_in(custom_fields)]
    texts.append(rules.field_words(custom_fields))
    return [*texts, row["description"]]


def _texts_in(custom_fields: dict[str, Any]) -> str:
    """The texts and numbers among the values of custom fields, nested ones too."""
    texts: list[str] = []
    values: list[Any] = [custom_fields]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += reversed([*value.values()])
        elif isinstance(value, list):
            values += reversed(value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            texts.append(str(value))
    return " ".join(texts)


TICKETS = SearchIndex(
    name="ticket_search",
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
