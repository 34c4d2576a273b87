"""The SQL of search documents, whatever they are of: an index brings the statements of its tables.

A document is the text by which a ticket or a customer is found.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.search import rules

# The texts of a ticket are up to 420 KB.
_KEYS_AT_ONCE = 40
_CHANGES = "SELECT total_changes() AS changes"


class ObjectKey(NamedTuple):
    """A ticket or a customer. In their order objects are walked through in a rebuild."""

    tenant_id: str
    id: str


class SearchIndex(NamedTuple):
    """An index: what is searched in it, as the statements that know its tables.

    name: of its consumer. list_after: objects of all tenants, by key. affected_by: the objects
    whose documents an event may change. texts_of: the texts of each of these objects. save, and
    save_all on PostgreSQL: change nothing where the words are the same. remove_words,
    add_words: FTS5 is told of each change by hand, because its triggers cannot be trusted, and by
    values: from a SELECT it would write a segment for each row instead of each transaction. merge:
    merges segments until this many pages are written.
    """

    name: str
    list_after: str
    affected_by: Callable[[Tx, LogEvent], Awaitable[list[str]]]
    texts_of: Callable[[Tx, Sequence[ObjectKey]], Awaitable[list[list[str | None]]]]
    last_number: str
    find: str
    save: str
    save_all: str
    remove_words: str
    add_words: str
    merge: str


class Written(NamedTuple):
    """How many documents were made, and how many characters written: none where nothing changed."""

    documents: int
    chars: int


async def list_after(tx: Tx, index: SearchIndex, key: ObjectKey, limit: int) -> list[ObjectKey]:
    """The objects that follow a key."""
    rows = await tx.fetch_all(index.list_after, {**key._asdict(), "limit": limit})
    return [ObjectKey(*row) for row in rows]


async def update(tx: Tx, index: SearchIndex, keys: Sequence[ObjectKey], max_chars: int) -> Written:
    """Make the documents of these objects anew, on SQLite until so many characters are written."""
    if not keys:
        return Written(0, 0)
    row = await tx.fetch_one(index.last_number, {})
    next_number = 1 if row is None else row["number"] + 1
    if tx.dialect == "postgresql":
        await _save_all(tx, index, keys, next_number)
        return Written(len(keys), 0)
    made = chars = 0
    for number, key in enumerate(keys, next_number):
        if chars >= max_chars:
            break
        (texts,) = await index.texts_of(tx, [key])
        words = rules.fts5_text(text for text in texts if text)
        chars += await _replace(tx, index, {**key._asdict(), "number": number, "words": words})
        made += 1
    return Written(made, chars)


async def _save_all(
    tx: Tx, index: SearchIndex, keys: Sequence[ObjectKey], next_number: int
) -> None:
    """Make the documents on PostgreSQL, where nobody waits for the end of the transaction."""
    words = await _words_of(tx, index, keys)
    documents = {
        "tenant_ids": [key.tenant_id for key in keys],
        "ids": [key.id for key in keys],
        "numbers": [*range(next_number, next_number + len(keys))],
        "words": words,
    }
    await tx.enqueue(index.save_all, documents)


async def _words_of(tx: Tx, index: SearchIndex, keys: Sequence[ObjectKey]) -> list[str]:
    words: list[str] = []
    for first in range(0, len(keys), _KEYS_AT_ONCE):
        texts_of_all = await index.texts_of(tx, keys[first : first + _KEYS_AT_ONCE])
        words += [rules.tsvector(text for text in texts if text) for texts in texts_of_all]
    return words


async def _replace(tx: Tx, index: SearchIndex, document: dict[str, Any]) -> int:
    """Replace a document and its words in FTS5; how many characters were written."""
    stored = await tx.fetch_one(index.find, document)
    if stored is not None:
        if stored["words"] == document["words"]:
            return 0
        document["number"] = stored["number"]
        await tx.enqueue(index.remove_words, {**document, "words": stored["words"]})
    await tx.enqueue(index.save, document)
    await tx.enqueue(index.add_words, document)
    return len(document["words"])


async def merge(tx: Tx, index: SearchIndex, pages: int) -> bool:
    """Merge segments of SQLite's index; whether there was anything to merge."""
    before = await tx.fetch_one(_CHANGES, {})
    await tx.enqueue(index.merge, {"pages": pages})
    after = await tx.fetch_one(_CHANGES, {})
    # The command itself counts as one change (sqlite.org/fts5.html, "The 'merge' Command").
    return before is not None and after is not None and after["changes"] - before["changes"] > 1
