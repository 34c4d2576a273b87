"""The SQL of keeping the search up to date, which the background loop alone does."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.search import rules

# Tenants whose tickets of before are not all done, or to whom more has happened; these come first.
_LOOK = """
SELECT t.id AS tenant_id, p.after_id, p.position, f.last_position, f.pruned_position
FROM tenants t
LEFT JOIN search_progress p ON p.tenant_id = t.id
LEFT JOIN feed_positions f ON f.tenant_id = t.id
WHERE p.position IS NULL OR p.after_id IS NOT NULL OR p.position < f.last_position
ORDER BY p.position IS NULL OR p.after_id IS NOT NULL, t.id LIMIT :limit
"""
_NOTE = """
INSERT INTO search_progress (tenant_id, after_id, position)
VALUES (:tenant_id, :after_id, :position)
ON CONFLICT (tenant_id) DO UPDATE SET after_id = :after_id, position = :position
"""
_OLDER = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND id > :after_id ORDER BY id LIMIT :limit
"""
_EVENTS = """
SELECT position, type, object FROM events
WHERE tenant_id = :tenant_id AND position > :position ORDER BY position LIMIT :limit
"""
_OF_CUSTOMER = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND customer_id = :customer_id
ORDER BY id DESC LIMIT :limit
"""
_TICKET = """
SELECT t.number, t.subject, substr(t.description, 1, 20000) AS description,
    c.email, c.name, c.company
FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id AND t.id = :ticket_id LIMIT 1
"""
# The newest ones and not all of them: on SQLite requests wait meanwhile.
_REPLIES = """
SELECT substr(body, 1, 4000) AS body FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
ORDER BY id DESC LIMIT :limit
"""
_LAST_NUMBER = "SELECT number FROM search_documents ORDER BY number DESC LIMIT 1"
_PUT = """
INSERT INTO search_documents (tenant_id, ticket_id, number, words)
VALUES (:tenant_id, :ticket_id, :number, :words)
ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET words = excluded.words
"""
# FTS5 is told by hand what goes and what comes; to triggers it is not trusted.
_TAKE_OUT = """
INSERT INTO search_index (search_index, rowid, tenant_id, words)
SELECT 'delete', number, tenant_id, words FROM search_documents
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
"""
_PUT_IN = """
INSERT INTO search_index (rowid, tenant_id, words)
SELECT number, tenant_id, words FROM search_documents
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
"""
_MOST_REPLIES = 100


class Behind(NamedTuple):
    """A tenant whose tickets are to be looked at.

    after_id: the last one of those that were there before, None when all of them are done.
    """

    tenant_id: str
    after_id: str | None
    position: int


class About(msgspec.Struct, frozen=True):
    """What an event is about, as far as it is looked at here."""

    id: str = ""
    ticket_id: str = ""


_about = msgspec.json.Decoder(About).decode


async def list_behind(tx: Tx, limit: int) -> list[Behind]:
    """The first tenants for whom there is something to do."""
    return [_behind(row) for row in await tx.all(_LOOK, {"limit": limit})]


def _behind(row: Row) -> Behind:
    last, pruned = row["last_position"] or 0, row["pruned_position"] or 0
    # A new tenant, or events that nobody looked at are gone: all tickets, and what happens then.
    if row["position"] is None or row["position"] < pruned:
        return Behind(row["tenant_id"], "", last)
    return Behind(row["tenant_id"], row["after_id"], row["position"])


async def note(tx: Tx, done: Behind) -> None:
    await tx.send(_NOTE, done._asdict())


async def list_older(tx: Tx, behind: Behind, limit: int) -> list[str]:
    """The next of the tickets that were there before."""
    rows = await tx.all(_OLDER, {**behind._asdict(), "limit": limit})
    return [row["id"] for row in rows]


async def list_touched(
    tx: Tx, behind: Behind, limit: int, of_customer: int
) -> tuple[list[str], int]:
    """The tickets that the next events are about, in order; and the position of the last one.

    of_customer: so many of a customer's newest tickets are told the customer's new name.
    """
    touched: dict[str, None] = {}
    position = behind.position
    for row in await tx.all(_EVENTS, {**behind._asdict(), "limit": limit}):
        if len(touched) >= limit:
            break
        position, kind = row["position"], row["type"]
        if kind == "customer.updated":
            about = {"tenant_id": behind.tenant_id, "customer_id": _about(row["object"]).id}
            found = await tx.all(_OF_CUSTOMER, {**about, "limit": of_customer})
            touched.update((ticket["id"], None) for ticket in found)
        elif kind == "reply.created":
            touched[_about(row["object"]).ticket_id] = None
        elif kind in ("ticket.created", "ticket.updated"):
            touched[_about(row["object"]).id] = None
    return sorted(touched), position


async def put(tx: Tx, tenant_id: str, ticket_ids: Sequence[str], *, is_postgres: bool) -> None:
    """Make the texts of tickets anew. Each of them is named once."""
    row = await tx.first(_LAST_NUMBER, {})
    next_number = 1 if row is None else row["number"] + 1
    written = rules.vector_of if is_postgres else rules.text_of
    made = []
    for number, ticket_id in enumerate(ticket_ids, next_number):
        texts = await _texts(tx, tenant_id, ticket_id)
        new = {"tenant_id": tenant_id, "ticket_id": ticket_id, "number": number}
        made.append({**new, "words": written(texts)})
    steps = (_PUT,) if is_postgres else (_TAKE_OUT, _PUT, _PUT_IN)
    for sql in steps:
        await tx.run_all(sql, made)


async def _texts(tx: Tx, tenant_id: str, ticket_id: str) -> list[str]:
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    row = await tx.first(_TICKET, params)
    if row is None:
        return []
    replies = await tx.all(_REPLIES, {**params, "limit": _MOST_REPLIES})
    texts = [str(row["number"]), row["subject"], row["email"], row["name"], row["company"]]
    texts += [row["description"], *(reply["body"] for reply in replies)]
    return [text for text in texts if text]
