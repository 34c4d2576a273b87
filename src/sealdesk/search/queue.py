"""The SQL of keeping the search up to date, which the background loop alone does."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
# The newest ones and not all of them: it is a text to find a ticket by.
_REPLIES = """
SELECT substr(body, 1, 4000) AS body FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
ORDER BY id DESC LIMIT :limit
"""
_LAST_NUMBER = "SELECT number FROM search_documents ORDER BY number DESC LIMIT 1"
_KEPT = """
SELECT number, words FROM search_documents
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id LIMIT 1
"""
# Most changes of a ticket change no word of it.
_PUT = """
INSERT INTO search_documents (tenant_id, ticket_id, number, words)
VALUES (:tenant_id, :ticket_id, :number, :words)
ON CONFLICT (tenant_id, ticket_id) DO UPDATE SET words = excluded.words
WHERE search_documents.words <> excluded.words
"""
# FTS5 is told by hand what goes and what comes; to triggers it is not trusted. By values: where
# they come from a SELECT it writes a part of the index for each row, not for the transaction.
_TAKE_OUT = """
INSERT INTO search_index (search_index, rowid, tenant_id, words)
VALUES ('delete', :number, :tenant_id, :words)
"""
_PUT_IN = """
INSERT INTO search_index (rowid, tenant_id, words) VALUES (:number, :tenant_id, :words)
"""
# Its words for: put parts of the index together, until this many pages are written.
_MERGE = "INSERT INTO search_index (search_index, rank) VALUES ('merge', :pages)"
_CHANGES = "SELECT total_changes() AS changes"
_MOST_REPLIES = 100


class Behind(NamedTuple):
    """A tenant whose tickets are to be looked at.

    after_id: the last one of those that were there before, None when all of them are done.
    """

    tenant_id: str
    after_id: str | None
    position: int


class Todo(NamedTuple):
    """Tickets to look at, in this order. reached: how far one is after none of them, one, ..."""

    ticket_ids: list[str]
    reached: list[Behind]


class Put(NamedTuple):
    """How many tickets were looked at, and how many signs written: none where nothing changed."""

    tickets: int
    signs: int


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


async def list_older(tx: Tx, behind: Behind, limit: int) -> Todo:
    """The next of the tickets that were there before."""
    rows = await tx.all(_OLDER, {**behind._asdict(), "limit": limit})
    ticket_ids = [row["id"] for row in rows]
    reached: list[str | None] = [behind.after_id, *ticket_ids]
    if len(ticket_ids) < limit:
        reached[-1] = None
    return Todo(ticket_ids, [behind._replace(after_id=after_id) for after_id in reached])


async def list_touched(tx: Tx, behind: Behind, limit: int, of_customer: int) -> Todo:
    """The tickets that the next events are about, in their order.

    of_customer: so many of a customer's newest tickets are told the customer's new name.
    """
    touched: dict[str, Behind] = {}
    reached = behind
    for row in await tx.all(_EVENTS, {**behind._asdict(), "limit": limit}):
        if len(touched) >= limit:
            break
        for ticket_id in await _touched_by(tx, row, behind.tenant_id, of_customer):
            touched.setdefault(ticket_id, reached)
        reached = behind._replace(position=row["position"])
    return Todo([*touched], [*touched.values(), reached])


async def _touched_by(tx: Tx, event: Row, tenant_id: str, of_customer: int) -> list[str]:
    kind, about = event["type"], _about(event["object"])
    if kind == "customer.updated":
        params = {"tenant_id": tenant_id, "customer_id": about.id, "limit": of_customer}
        return [ticket["id"] for ticket in reversed(await tx.all(_OF_CUSTOMER, params))]
    if kind == "reply.created":
        return [about.ticket_id]
    return [about.id] if kind in ("ticket.created", "ticket.updated") else []


async def put(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str], signs: int, *, is_postgres: bool
) -> Put:
    """Make the texts of tickets anew, each named once, until so many signs are written."""
    row = await tx.first(_LAST_NUMBER, {})
    next_number = 1 if row is None else row["number"] + 1
    made, written = [], 0
    for number, ticket_id in enumerate(ticket_ids, next_number):
        if written >= signs:
            break
        texts = await _texts(tx, tenant_id, ticket_id)
        new = {"tenant_id": tenant_id, "ticket_id": ticket_id, "number": number}
        if is_postgres:
            made.append({**new, "words": rules.vector_of(texts)})
        else:
            made.append({**new, "words": rules.text_of(texts)})
            written += await _replace(tx, made[-1])
    if is_postgres:
        await tx.run_all(_PUT, made)
    return Put(len(made), written)


async def _replace(tx: Tx, new: dict[str, Any]) -> int:
    """Put a text in the place of an older one; how many signs were written."""
    kept = await tx.first(_KEPT, new)
    if kept is not None:
        if kept["words"] == new["words"]:
            return 0
        new["number"] = kept["number"]
        await tx.send(_TAKE_OUT, {**new, "words": kept["words"]})
    await tx.send(_PUT, new)
    await tx.send(_PUT_IN, new)
    return len(new["words"])


async def merge(tx: Tx, pages: int) -> bool:
    """Put parts of SQLite's index together; whether there was anything to do."""
    before = await tx.first(_CHANGES, {})
    await tx.send(_MERGE, {"pages": pages})
    after = await tx.first(_CHANGES, {})
    # One change is the telling (sqlite.org/fts5.html, "The 'merge' Command").
    return before is not None and after is not None and after["changes"] - before["changes"] > 1


async def _texts(tx: Tx, tenant_id: str, ticket_id: str) -> list[str]:
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    row = await tx.first(_TICKET, params)
    if row is None:
        return []
    replies = await tx.all(_REPLIES, {**params, "limit": _MOST_REPLIES})
    texts = [str(row["number"]), row["subject"], row["email"], row["name"], row["company"]]
    texts += [row["description"], *(reply["body"] for reply in replies)]
    return [text for text in texts if text]
