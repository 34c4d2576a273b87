"""The SQL of customers."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.customers import rules
from sealdesk.customers.types import Customer
from sealdesk.db.column_lists import assignment_list, column_list, parameter_list
from sealdesk.db.engine import Row, Tx
from sealdesk.resources import representation
from sealdesk.resources.paging import PageRequest

_STORED = Customer.__struct_fields__
_COMPUTED = ("email_identity", "reference")
# A change never sets these.
_FIXED = {"tenant_id", "id", "created_at"}
_COLUMNS = column_list(_STORED)
_NEW_COLUMNS = column_list((*_STORED, *_COMPUTED))
_NEW_VALUES = parameter_list((*_STORED, *_COMPUTED))
_ASSIGNMENTS = assignment_list((*(name for name in _STORED if name not in _FIXED), *_COMPUTED))
_FIND = f"SELECT {_COLUMNS} FROM customers WHERE tenant_id = :tenant_id AND id = :id LIMIT 1"
_FIND_BY_EMAIL = f"""
SELECT {_COLUMNS} FROM customers
WHERE tenant_id = :tenant_id AND email_identity = :email_identity LIMIT 1
"""
_ADD = f"INSERT INTO customers ({_NEW_COLUMNS}) VALUES ({_NEW_VALUES})"
_REPLACE = f"""
UPDATE customers SET {_ASSIGNMENTS}
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
"""
_DELETE_WITHOUT_TICKETS = """
DELETE FROM customers WHERE tenant_id = :tenant_id AND id = :id AND NOT EXISTS
    (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id AND t.customer_id = :id)
"""
_COUNT = """
SELECT count(*) AS number
FROM (SELECT 1 FROM customers WHERE tenant_id = :tenant_id LIMIT :limit) x
"""

# The text in which words are searched. lower() changes ASCII letters on both databases, and other
# letters on PostgreSQL only.
_SEARCHED_TEXT = " || ' ' || ".join(
    ("email_identity", *(f"coalesce({name}, '')" for name in ("name", "company", "phone")))
)
_AMONG_NEWEST = """id > coalesce((
    SELECT id FROM customers WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT 1 OFFSET :newest
), '')"""
_LIKE_WILDCARD = re.compile(r"[\\%_]")


class Filter(msgspec.Struct, frozen=True):
    """Which customers a list contains.

    words: each must be part of the customer's data. newest: how many customers are scanned.
    """

    words: tuple[str, ...] = ()
    newest: int | None = None
    email: str | None = None
    external_id: str | None = None
    updated_after: int | None = None
    newest_first: bool = True

    def is_served(self) -> bool:
        """Whether one index serves the whole query."""
        return self.email is not None or (self.updated_after is None and not self.words)


async def find(tx: Tx, tenant_id: str, customer_id: str) -> Customer | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": customer_id})
    return None if row is None else customer_of(row)


async def find_by_email(tx: Tx, tenant_id: str, email: str) -> Customer | None:
    row = await tx.fetch_one(
        _FIND_BY_EMAIL,
        {"tenant_id": tenant_id, "email_identity": representation.email_identity(email)},
    )
    return None if row is None else customer_of(row)


async def list_customers(
    tx: Tx, tenant_id: str, filters: Filter, page: PageRequest
) -> list[Customer]:
    """In order of creation; one more than the page when there are more."""
    return [customer_of(row) for row in await list_rows(tx, tenant_id, filters, page)]


async def list_rows(tx: Tx, tenant_id: str, filters: Filter, page: PageRequest) -> Sequence[Row]:
    """The same as rows, of which `customer_of` takes six times the memory."""
    conditions = ["tenant_id = :tenant_id"]
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": page.per_page + 1}
    if filters.email is not None:
        conditions.append("email_identity = :email_identity")
        params["email_identity"] = representation.email_identity(filters.email)
    for place, word in enumerate(filters.words):
        conditions.append(_contains_word(word, f"word_{place}", params))
    if filters.external_id is not None:
        conditions.append("external_id = :external_id")
        params["external_id"] = filters.external_id
    if filters.updated_after is not None:
        conditions.append("updated_at >= :updated_after")
        params["updated_after"] = filters.updated_after
    if filters.newest is not None:
        conditions.append(_AMONG_NEWEST)
        params["newest"] = filters.newest
    if page.after is not None:
        conditions.append("id < :after" if filters.newest_first else "id > :after")
        params["after"] = page.after[0]
    order = "DESC" if filters.newest_first else "ASC"
    return await tx.fetch_page(
        f"SELECT {_COLUMNS} FROM customers WHERE {' AND '.join(conditions)}"
        f" ORDER BY id {order} LIMIT :limit",
        params,
        ("metadata",),
        page.max_bytes,
    )


async def count_customers(tx: Tx, tenant_id: str, most: int) -> int:
    """How many customers there are, up to `most`."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id, "limit": most})
    return row["number"] if row else 0


async def list_by_ids(tx: Tx, tenant_id: str, customer_ids: Sequence[str]) -> list[Customer]:
    """Customers by their ids, newest first; unknown ids are left out."""
    params: dict[str, object] = {f"id_{place}": each for place, each in enumerate(customer_ids)}
    keys = ", ".join(f":{key}" for key in params)
    rows = await tx.fetch_all(
        f"SELECT {_COLUMNS} FROM customers WHERE tenant_id = :tenant_id AND id IN ({keys})"
        " ORDER BY id DESC LIMIT :limit",
        params | {"tenant_id": tenant_id, "limit": len(customer_ids)},
    )
    return [customer_of(row) for row in rows]


def _contains_word(word: str, name: str, params: dict[str, object]) -> str:
    """A condition that the searched text contains a word, in any case."""
    keys = []
    for place, variant in enumerate(rules.case_variants(word)):
        keys.append(f"{name}_{place}")
        params[keys[-1]] = "%" + _LIKE_WILDCARD.sub(r"\\\g<0>", variant) + "%"
    likes = (f"lower({_SEARCHED_TEXT}) LIKE :{key} ESCAPE '\\'" for key in keys)
    return f"({' OR '.join(likes)})"


async def add(tx: Tx, customer: Customer) -> None:
    await tx.execute_one(_ADD, _params(customer))


async def replace(tx: Tx, customer: Customer) -> None:
    """Store a changed customer; its version is one higher than the stored one."""
    await tx.execute_one(_REPLACE, _params(customer) | {"before": customer.version - 1})


async def delete_without_tickets(tx: Tx, tenant_id: str, customer_id: str) -> bool:
    """Delete a customer, unless they have tickets; whether it did."""
    params = {"tenant_id": tenant_id, "id": customer_id}
    return await tx.execute(_DELETE_WITHOUT_TICKETS, params) == 1


def customer_of(row: Row) -> Customer:
    """The customer of a row that begins with the columns."""
    values: dict[str, Any] = dict(zip(_STORED, row, strict=False))  # other columns may follow
    values["metadata"] = msgspec.json.decode(values["metadata"])
    return Customer(**values)


def _params(customer: Customer) -> dict[str, object]:
    return msgspec.structs.asdict(customer) | {
        "email_identity": representation.email_identity(customer.email),
        "metadata": msgspec.json.encode(customer.metadata).decode(),
        "reference": rules.reference(customer),
    }
