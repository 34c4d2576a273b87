"""What keeps the search up to date, whatever is searched; its SQL is each kind's own."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.search import rules

_EVENTS = """
SELECT position, type, object FROM events
WHERE tenant_id = :tenant_id AND position > :position ORDER BY position LIMIT :limit
"""
_CHANGES = "SELECT total_changes() AS changes"


class Kind(NamedTuple):
    """What is searched, as the statements that know its tables.

    look: tenants who are behind. note: how far one is. older: what was there before, by id.
    touched: whom an event is about. texts: what is said of one. put: most changes change no word.
    take_out, put_in: FTS5 is told by hand what goes and what comes; to triggers it is not trusted.
    By values: where they come from a SELECT it writes a part of the index for each row, not for
    the transaction. merge: its words for: put parts of the index together, until this many pages
    are written.
    """

    look: str
    note: str
    older: str
    touched: Callable[[Tx, Row, str], Awaitable[list[str]]]
    texts: Callable[[Tx, str, str], Awaitable[list[str | None]]]
    last_number: str
    kept: str
    put: str
    take_out: str
    put_in: str
    merge: str


class Behind(NamedTuple):
    """A tenant some of whose things are to be looked at.

    after_id: the last one of those that were there before, None when all of them are done.
    """

    tenant_id: str
    after_id: str | None
    position: int


class Todo(NamedTuple):
    """What to look at, in this order. reached: how far one is after none of them, one, ..."""

    ids: list[str]
    reached: list[Behind]


class Put(NamedTuple):
    """How many texts were made, and how many signs written: none where nothing changed."""

    texts: int
    signs: int


class About(msgspec.Struct, frozen=True):
    """What an event is about, as far as it is looked at here."""

    id: str = ""
    ticket_id: str = ""


about = msgspec.json.Decoder(About).decode


async def list_behind(tx: Tx, kind: Kind, limit: int) -> list[Behind]:
    """The first tenants for whom there is something to do."""
    return [_behind(row) for row in await tx.fetch_all(kind.look, {"limit": limit})]


def _behind(row: Row) -> Behind:
    last, pruned = row["last_position"] or 0, row["pruned_position"] or 0
    # A new tenant, or events that nobody looked at are gone: all of them, and what happens then.
    if row["position"] is None or row["position"] < pruned:
        return Behind(row["tenant_id"], "", last)
    return Behind(row["tenant_id"], row["after_id"], row["position"])


async def note(tx: Tx, kind: Kind, done: Behind) -> None:
    await tx.enqueue(kind.note, done._asdict())


async def list_todo(tx: Tx, kind: Kind, behind: Behind, limit: int) -> Todo:
    """What comes next of what was there before; else what the next events are about."""
    of = _list_touched if behind.after_id is None else _list_older
    return await of(tx, kind, behind, limit)


async def _list_older(tx: Tx, kind: Kind, behind: Behind, limit: int) -> Todo:
    rows = await tx.fetch_all(kind.older, {**behind._asdict(), "limit": limit})
    ids = [row["id"] for row in rows]
    reached: list[str | None] = [behind.after_id, *ids]
    if len(ids) < limit:
        reached[-1] = None
    return Todo(ids, [behind._replace(after_id=after_id) for after_id in reached])


async def _list_touched(tx: Tx, kind: Kind, behind: Behind, limit: int) -> Todo:
    touched: dict[str, Behind] = {}
    reached = behind
    for row in await tx.fetch_all(_EVENTS, {**behind._asdict(), "limit": limit}):
        if len(touched) >= limit:
            break
        for touched_id in await kind.touched(tx, row, behind.tenant_id):
            touched.setdefault(touched_id, reached)
        reached = behind._replace(position=row["position"])
    return Todo([*touched], [*touched.values(), reached])


async def put(
    tx: Tx, kind: Kind, tenant_id: str, ids: Sequence[str], signs: int, *, is_postgres: bool
) -> Put:
    """Make texts anew, each named once, until so many signs are written."""
    row = await tx.fetch_one(kind.last_number, {})
    next_number = 1 if row is None else row["number"] + 1
    made, written = [], 0
    for number, about_id in enumerate(ids, next_number):
        if written >= signs:
            break
        texts = [text for text in await kind.texts(tx, tenant_id, about_id) if text]
        new = {"tenant_id": tenant_id, "about_id": about_id, "number": number}
        if is_postgres:
            made.append({**new, "words": rules.vector_of(texts)})
        else:
            made.append({**new, "words": rules.text_of(texts)})
            written += await _replace(tx, kind, made[-1])
    if is_postgres:
        await tx.execute_many(kind.put, made)
    return Put(len(made), written)


async def _replace(tx: Tx, kind: Kind, new: dict[str, Any]) -> int:
    """Put a text in the place of an older one; how many signs were written."""
    kept = await tx.fetch_one(kind.kept, new)
    if kept is not None:
        if kept["words"] == new["words"]:
            return 0
        new["number"] = kept["number"]
        await tx.enqueue(kind.take_out, {**new, "words": kept["words"]})
    await tx.enqueue(kind.put, new)
    await tx.enqueue(kind.put_in, new)
    return len(new["words"])


async def merge(tx: Tx, kind: Kind, pages: int) -> bool:
    """Put parts of SQLite's index together; whether there was anything to do."""
    before = await tx.fetch_one(_CHANGES, {})
    await tx.enqueue(kind.merge, {"pages": pages})
    after = await tx.fetch_one(_CHANGES, {})
    # One change is the telling (sqlite.org/fts5.html, "The 'merge' Command").
    return before is not None and after is not None and after["changes"] - before["changes"] > 1
