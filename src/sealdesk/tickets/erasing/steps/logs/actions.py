"""Steps that erase the customer in the events, logs and lists of the desk."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from sealdesk.customers import store as customers
from sealdesk.db.engine import Tx
from sealdesk.resources.identity import identity
from sealdesk.tickets.erasing import rules
from sealdesk.tickets.erasing.rules import ERASED, JsonEraser, Mentioned
from sealdesk.tickets.erasing.steps.logs import store
from sealdesk.tickets.erasing.steps.store import Params, list_updates
from sealdesk.tickets.erasing.types import FINISHED, Done, Erasure

STEP_ROWS = 100
_STEP_SHORT_ROWS = 500  # of a text without much JSON
_STEP_UPDATES = 250
_MAX_TEXTS = 100


async def find_earlier(tx: Tx, erasure: Erasure) -> Done:
    """Names, addresses and numbers that the events of the last 30 days have replaced."""
    rows = await list_updates(tx, erasure, int(erasure.cursor or 0), _STEP_UPDATES)
    found, customer_ids = list[str](), await _list_ids(tx, erasure)
    for row in rows:
        if msgspec.json.decode(row["object"]).get("id") in customer_ids:
            found += rules.earlier_texts(msgspec.json.decode(row["changes"]))
    free = [each for each in found if await _is_free(tx, erasure, each)]
    texts = tuple(dict.fromkeys((*erasure.texts, *free)))[:_MAX_TEXTS]
    cursor = str(rows[-1]["position"]) if rows else None
    return Done(cursor, texts=texts)


async def wait_for_events(tx: Tx, erasure: Erasure) -> Done:
    """Wait until the events that tell old texts have left the outbox of PostgreSQL.

    The cursor is the newest of them.
    """
    pending = await store.find_pending(tx, erasure.tenant_id)
    if pending is None:
        return FINISHED
    oldest, newest = pending
    until = erasure.cursor or newest
    return FINISHED if oldest > until else Done(until, is_waiting=True)


async def erase_events(tx: Tx, erasure: Erasure) -> Done:
    rows = await store.list_rows(tx, erasure, store.EVENTS, STEP_ROWS)
    customer_ids = await _list_ids(tx, erasure)
    objects = [msgspec.json.decode(row["object"]) for row in rows]
    changed: list[Params] = []
    for row, value in zip(rows, objects, strict=True):
        eraser = await _eraser(tx, erasure, value, customer_ids)
        erased = eraser.erase(value)
        if eraser.count:
            kept = rules.kept_changes(msgspec.json.decode(row["changes"]))
            new = {"object": msgspec.json.encode(erased), "changes": _encode(kept)}
            changed.append({"id": row["id"], **new})
    return await store.store_rows(tx, erasure, store.EVENTS, rows, changed)


async def erase_attempts(tx: Tx, erasure: Erasure) -> Done:
    """What receivers have answered to events about the customer: it may repeat them."""
    rows = await store.list_rows(tx, erasure, store.DELIVERIES, STEP_ROWS)
    customer_ids = await _list_ids(tx, erasure)
    changed: list[Params] = []
    for row in rows:
        value = msgspec.json.decode(row["object"])
        eraser = await _eraser(tx, erasure, value, customer_ids)
        eraser.erase(value)
        if eraser.count:
            changed.append({"id": row["id"]})
    return await store.store_rows(tx, erasure, store.DELIVERIES, rows, changed)


async def erase_responses(tx: Tx, erasure: Erasure) -> Done:
    """Stored responses to requests with an Idempotency-Key, which still answer repetitions."""
    rows = await store.list_rows(tx, erasure, store.RESPONSES, STEP_ROWS)
    customer_ids = await _list_ids(tx, erasure)
    named = [row for row in rows if rules.names_person(row["scope"], erasure.texts)]
    changed: list[Params] = []
    for row in rows:
        value = _decode(row["body"])
        eraser = await _eraser(tx, erasure, value, customer_ids)
        erased = eraser.erase(value)
        if eraser.count and row not in named:
            key = {"key_id": row["key_id"], "scope": row["scope"]}
            changed.append({**key, "body": msgspec.json.encode(erased)})
    await store.delete_responses(tx, erasure, named)
    return await store.store_rows(tx, erasure, store.RESPONSES, rows, changed)


async def erase_refusals(tx: Tx, erasure: Erasure) -> Done:
    """Targets of refused requests; those of the request log have no values."""
    rows = await store.list_rows(tx, erasure, store.REFUSALS, _STEP_SHORT_ROWS)
    changed: list[Params] = [
        {"key_id": row["key_id"], "id": row["id"], "target": ERASED}
        for row in rows
        if rules.names_person(row["target"], erasure.texts)
    ]
    return await store.store_rows(tx, erasure, store.REFUSALS, rows, changed)


async def erase_audit(tx: Tx, erasure: Erasure) -> Done:
    rows = await store.list_rows(tx, erasure, store.AUDIT, _STEP_SHORT_ROWS)
    changed: list[Params] = []
    for row in rows:
        details = msgspec.json.decode(row["details"])
        erased = rules.without_person(details, erasure.texts)
        if erased != details:
            changed.append({"id": row["id"], "details": _encode(erased)})
    return await store.store_rows(tx, erasure, store.AUDIT, rows, changed)


async def erase_views(tx: Tx, erasure: Erasure) -> Done:
    """Names and queries of saved views; one that looked for the person finds nothing then."""
    rows = await store.list_rows(tx, erasure, store.VIEWS, _STEP_SHORT_ROWS)
    changed: list[Params] = []
    for row in rows:
        query = _erased_query(row["query"], erasure)
        is_named = rules.names_person(row["name"], erasure.texts)
        if is_named or query != row["query"]:
            name = f"{ERASED} {row['id'][-6:]}" if is_named else row["name"]
            new = {"name": name, "name_identity": identity(name), "query": query}
            changed.append({"id": row["id"], **new, "before": row["query"]})
    return await store.store_rows(tx, erasure, store.VIEWS, rows, changed)


async def erase_notifications(tx: Tx, erasure: Erasure) -> Done:
    rows = await store.list_rows(tx, erasure, store.NOTIFICATIONS, _STEP_SHORT_ROWS)
    changed: list[Params] = [
        {"id": row["id"], "actor_name": ERASED}
        for row in rows
        if rules.names_person(row["actor_name"], erasure.texts)
    ]
    return await store.store_rows(tx, erasure, store.NOTIFICATIONS, rows, changed)


async def _eraser(tx: Tx, erasure: Erasure, value: Any, customer_ids: set[str]) -> JsonEraser:
    mentioned: Mentioned = rules.find_mentioned(value)
    named = await store.find_named(tx, erasure, mentioned.attachment_ids)
    return JsonEraser(
        customer_ids,
        await store.find_tickets(tx, erasure, mentioned.ticket_ids),
        mentioned.attachment_ids - named,
    )


async def _list_ids(tx: Tx, erasure: Erasure) -> set[str]:
    """The ids of the customer, and of those that were merged into them."""
    merged = await customers.list_merged(tx, erasure.tenant_id, erasure.customer_id)
    return {erasure.customer_id, *merged}


def _erased_query(query: str, erasure: Erasure) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    erased = [
        (name, ERASED if rules.names_person(value, erasure.texts) else value)
        for name, value in pairs
    ]
    return query if erased == pairs else urlencode(erased)


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return None


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def _is_free(tx: Tx, erasure: Erasure, text: str) -> bool:
    """Whether it is no address that another customer has now."""
    if "@" not in text:
        return True
    customer: Any = await customers.find_by_email(tx, erasure.tenant_id, text)
    return customer is None or customer.id == erasure.customer_id
