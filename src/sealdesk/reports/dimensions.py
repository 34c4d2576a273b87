"""The custom fields by which a desk's tickets are told apart: the first of those with choices."""

import re

from sealdesk.db.engine import Tx
from sealdesk.reports.types import DIMENSIONS, FIELD, Dimension, FieldChoices
from sealdesk.resources.identity import identity
from sealdesk.tickets.custom_fields import store
from sealdesk.tickets.custom_fields.types import KEY

MAX_FIELDS = 10  # with 100 choices each
PATTERN = rf"^({'|'.join(DIMENSIONS[1:])}|{FIELD}{KEY.pattern})$"
_PATTERN = re.compile(PATTERN, re.ASCII)


def parse(text: str) -> Dimension | None:
    """The dimension of this name; None if there is none."""
    return text if _PATTERN.fullmatch(text) else None


async def list_fields(tx: Tx, tenant_id: str) -> list[FieldChoices]:
    """The fields that are counted, with what they are called."""
    found = [
        FieldChoices(f"{FIELD}{each.key}", each.label, {identity(one): one for one in each.choices})
        for each in await store.list_fields(tx, tenant_id)
        if each.type == "choice" and each.is_active
    ]
    return found[:MAX_FIELDS]
