"""Steps that erase the customer in the tables of e-mail."""

from sealdesk.db.engine import Row, Tx
from sealdesk.resources.representation import email_identity
from sealdesk.tickets.erasing import rules
from sealdesk.tickets.erasing.rules import ERASED
from sealdesk.tickets.erasing.steps.logs.store import list_rows, store_rows
from sealdesk.tickets.erasing.steps.mail import store
from sealdesk.tickets.erasing.steps.store import Params
from sealdesk.tickets.erasing.types import Done, Erasure

_STEP_ROWS = 250


async def erase_participants(tx: Tx, erasure: Erasure) -> Done:
    """All of the customer's tickets, and the customer in tickets of others."""
    rows = await list_rows(tx, erasure, store.PARTICIPANTS, _STEP_ROWS)
    keys: list[Params] = [
        {name: row[name] for name in store.PARTICIPANTS.key}
        for row in rows
        if _is_about(erasure, row, row["address_identity"])
    ]
    return await store_rows(tx, erasure, store.PARTICIPANTS, rows, keys)


async def erase_received(tx: Tx, erasure: Erasure) -> Done:
    """The sender, subject and key; the raw message goes with the next retention."""
    rows = await list_rows(tx, erasure, store.RECEIVED, _STEP_ROWS)
    changed: list[Params] = [
        {"id": row["id"], "message_key": f"{ERASED} {row['id']}", "raw_until": erasure.created_at}
        for row in rows
        if _is_about(erasure, row, row["address"])
        or rules.names_person(f"{row['subject']}\n{row['reason'] or ''}", erasure.texts)
    ]
    return await store_rows(tx, erasure, store.RECEIVED, rows, changed)


async def erase_outgoing(tx: Tx, erasure: Erasure) -> Done:
    """The recipients and what their servers said; what is queued is not sent."""
    rows = await list_rows(tx, erasure, store.OUTGOING, _STEP_ROWS)
    changed: list[Params] = [
        {"id": row["id"], "address": f"{ERASED} {row['id']}"}
        for row in rows
        if _is_about(erasure, row, email_identity(row["address"]))
    ]
    return await store_rows(tx, erasure, store.OUTGOING, rows, changed)


async def erase_submissions(tx: Tx, erasure: Erasure) -> Done:
    """Forms that wait for their confirmation: they are deleted."""
    rows = await list_rows(tx, erasure, store.SUBMISSIONS, _STEP_ROWS)
    named: list[Params] = [
        {"id": row["id"]}
        for row in rows
        if row["address"] in _identities(erasure)
        or rules.names_person(row["request"], erasure.texts)
    ]
    return await store_rows(tx, erasure, store.SUBMISSIONS, rows, named)


def _is_about(erasure: Erasure, row: Row, identity: str) -> bool:
    """Whether a row belongs to a ticket of the customer, or to the customer's address."""
    return row["customer_id"] == erasure.customer_id or identity in _identities(erasure)


def _identities(erasure: Erasure) -> set[str]:
    return {email_identity(each) for each in erasure.texts if "@" in each}
