"""The step that finds what the customer was called before, to look for it too."""

from typing import Any

import msgspec

from sealdesk.customers import store as customers
from sealdesk.db.engine import Tx
from sealdesk.tickets.erasing import rules
from sealdesk.tickets.erasing.steps import store
from sealdesk.tickets.erasing.steps.types import Done
from sealdesk.tickets.erasing.types import Erasure

_STEP_ROWS = 250
_MAX_TEXTS = 100


async def find_earlier(tx: Tx, erasure: Erasure) -> Done:
    """Names, addresses and numbers that the events of the last 30 days have replaced."""
    rows = await store.list_updates(tx, erasure, int(erasure.cursor or 0), _STEP_ROWS)
    found: list[str] = []
    for row in rows:
        if msgspec.json.decode(row["object"]).get("id") == erasure.customer_id:
            found += rules.earlier_texts(msgspec.json.decode(row["changes"]))
    free = [each for each in found if await _is_free(tx, erasure, each)]
    texts = tuple(dict.fromkeys((*erasure.texts, *free)))[:_MAX_TEXTS]
    cursor = str(rows[-1]["position"]) if rows else None
    return Done(cursor, texts=texts)


async def _is_free(tx: Tx, erasure: Erasure, text: str) -> bool:
    """Whether it is no address that another customer has now."""
    if "@" not in text:
        return True
    customer: Any = await customers.find_by_email(tx, erasure.tenant_id, text)
    return customer is None or customer.id == erasure.customer_id
