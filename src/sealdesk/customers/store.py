"""The SQL of customers."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.customers import rules
from sealdesk.customers.types import Customer
from sealdesk.db.column_lists import (
    assignment_list,
    column_list,
    delete_row,
    id_parameters,
    insert_into,
    select_row,
)
from sealdesk.db.engine import Row, Tx
from sealdesk.resources import representation
from sealdesk.resources.paging import PageRequest

STORED = tuple(name for name in Customer.__struct_fields__ if name != "merged_into_id")
_COMPUTED = ("email_identity", "reference")
_LISTS = ("other_emails", "other_phones")  # JSON, NULL without any
_MAX_MERGED = 1000
# A change never sets these.
_FIXED = {"tenant_id", "id", "created_at"}
_COLUMNS = column_list(STORED)
_ASSIGNMENTS = assignment_list((*(name for name in STORED if name not in _FIXED), *_COMPUTED))
_FIND = select_row("customers", _COLUMNS)
# By their first address, or by a further one. Two whose identities have become one are both found
# (decision 0141), and the one that has the address comes first.
_IDS_OF_ADDRESS = """
    SELECT customer_id AS id FROM customer_addresses
    WHERE tenant_id = :tenant_id AND email_identity = :email_identity
    UNION ALL
    SELECT id FROM customers WHERE tenant_id = :tenant_id AND email_identity = :email_identity
    UNION ALL
    SELECT customer_id FROM customer_addresses WHERE tenant_id = :tenant_id
        AND email_identity > :email_identity || ' ' AND email_identity < :email_identity || '!'
    LIMIT"""
OF_ADDRESS = f"id = ({_IDS_OF_ADDRESS} 1)"
_MAX_ALIKE = 10  # of one address
_FIND_BY_EMAIL = f"""
SELECT {_COLUMNS} FROM customers WHERE tenant_id = :tenant_id AND {OF_ADDRESS} LIMIT 1
"""
_ADD_ADDRESS = insert_into("customer_addresses", "tenant_id email_identity customer_id")
_DELETE_ADDRESS = """
DELETE FROM customer_addresses WHERE tenant_id = :tenant_id AND customer_id = :customer_id
    AND email_identity IN (:email_identity, :email_identity || ' ' || :customer_id)
"""
_DELETE_ADDRESSES = delete_row("customer_addresses", "tenant_id customer_id")
_FIND_MERGED = select_row("customer_merges", "customer", "tenant_id source_id")
_LIST_MERGED_WITH = """
SELECT customer FROM customer_merges
WHERE tenant_id = :tenant_id AND external_id = :external_id ORDER BY source_id LIMIT :limit
"""
_LIST_MERGED = """
SELECT source_id FROM customer_merges
WHERE tenant_id = :tenant_id AND target_id = :target_id ORDER BY source_id LIMIT :limit
"""
_DELETE_MERGED = delete_row("customer_merges", "tenant_id target_id")
_ADD = insert_into("customers", (*STORED, *_COMPUTED))
_REPLACE = f"""
UPDATE customers SET {_ASSIGNMENTS}
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
"""
_DELETE_WITHOUT_TICKETS = """
DELETE FROM customers WHERE tenant_id = :tenant_id AND id = :id AND NOT EXISTS
    (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id AND t.customer_id = :id)
"""
_DELETE = f"{_DELETE_WITHOUT_TICKETS} AND version = :before"
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
        keys, found = id_parameters(await _list_ids(tx, tenant_id, filters.email))
        if not found:
            return []
        conditions.append(f"id IN ({keys})")
        params |= found
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


async def _list_ids(tx: Tx, tenant_id: str, email: str) -> list[str]:
    of_address = {"tenant_id": tenant_id, "email_identity": representation.email_identity(email)}
    rows = await tx.fetch_all(f"{_IDS_OF_ADDRESS} :limit", {**of_address, "limit": _MAX_ALIKE})
    return [*dict.fromkeys(row["id"] for row in rows)]


async def count_customers(tx: Tx, tenant_id: str, most: int) -> int:
    """How many customers there are, up to `most`."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id, "limit": most})
    return row["number"] if row else 0


async def list_by_ids(tx: Tx, tenant_id: str, customer_ids: Sequence[str]) -> list[Customer]:
    """Customers by their ids, newest first; unknown ids are left out."""
    keys, params = id_parameters(customer_ids)
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


async def find_merged(tx: Tx, tenant_id: str, customer_id: str) -> Customer | None:
    """A customer that was merged into another one, as they were."""
    row = await tx.fetch_one(_FIND_MERGED, {"tenant_id": tenant_id, "source_id": customer_id})
    return None if row is None else msgspec.json.decode(row["customer"], type=Customer)


async def find_lasting_id(tx: Tx, tenant_id: str, customer_id: str) -> str:
    """The id of a customer, or of the one whom they were merged into, also in several steps."""
    while merged := await find_merged(tx, tenant_id, customer_id):
        customer_id = str(merged.merged_into_id)
    return customer_id


async def list_merged_with(tx: Tx, tenant_id: str, external_id: str, limit: int) -> list[Customer]:
    """The merged customers with an external_id, as they were."""
    params = {"tenant_id": tenant_id, "external_id": external_id, "limit": limit}
    rows = await tx.fetch_all(_LIST_MERGED_WITH, params)
    return [msgspec.json.decode(row["customer"], type=Customer) for row in rows]


async def list_merged(tx: Tx, tenant_id: str, customer_id: str) -> list[str]:
    """The ids of the customers that were merged into this one, also in several steps."""
    found, last = list[str](), [customer_id]
    while last and len(found) < _MAX_MERGED:
        params = [
            {"tenant_id": tenant_id, "target_id": each, "limit": _MAX_MERGED} for each in last
        ]
        last = [
            row["source_id"]
            for rows in await tx.fetch_for_each(_LIST_MERGED, params)
            for row in rows
        ]
        found += last
    return found


async def add(tx: Tx, customer: Customer) -> None:
    await tx.execute_one(_ADD, _params(customer))
    await _add_addresses(tx, customer, rules.addresses(customer))


async def restore(tx: Tx, customer: Customer) -> None:
    """Store a customer who was removed, at once, so that tickets can refer to them."""
    await tx.execute(_ADD, _params(customer))
    await _add_addresses(tx, customer, rules.addresses(customer))


async def remove(tx: Tx, customer: Customer) -> None:
    """Delete a customer to whom no ticket refers any more; their addresses are free at once."""
    key = {"tenant_id": customer.tenant_id, "customer_id": customer.id}
    await tx.execute(_DELETE_ADDRESSES, key)
    params = {"tenant_id": customer.tenant_id, "id": customer.id, "before": customer.version}
    await tx.execute_one(_DELETE, params)


async def release_addresses(tx: Tx, customer: Customer, identities: Sequence[str]) -> None:
    """Let a customer no longer have these addresses, at once."""
    await tx.execute_many(_DELETE_ADDRESS, [_address(customer, each) for each in identities])


async def replace(tx: Tx, before: Customer, after: Customer) -> None:
    """Store a changed customer."""
    await tx.execute_one(_REPLACE, _params(after) | {"before": before.version})
    old, new = rules.addresses(before), rules.addresses(after)
    for each in (identity for identity in old if identity not in new):
        await tx.enqueue(_DELETE_ADDRESS, _address(after, each))
    await _add_addresses(tx, after, [identity for identity in new if identity not in old])


async def delete_without_tickets(tx: Tx, tenant_id: str, customer_id: str) -> bool:
    """Delete a customer, unless they have tickets; whether it did, else the work has to fail."""
    for merged_id in (customer_id, *await list_merged(tx, tenant_id, customer_id)):
        await tx.execute(_DELETE_MERGED, {"tenant_id": tenant_id, "target_id": merged_id})
    await tx.execute(_DELETE_ADDRESSES, {"tenant_id": tenant_id, "customer_id": customer_id})
    params = {"tenant_id": tenant_id, "id": customer_id}
    return await tx.execute(_DELETE_WITHOUT_TICKETS, params) == 1


async def _add_addresses(tx: Tx, customer: Customer, identities: Sequence[str]) -> None:
    for each in identities:
        await tx.execute_one(_ADD_ADDRESS, _address(customer, each))


def _address(customer: Customer, identity: str) -> dict[str, object]:
    return {
        "tenant_id": customer.tenant_id,
        "email_identity": identity,
        "customer_id": customer.id,
    }


def customer_of(row: Row) -> Customer:
    """The customer of a row that begins with the columns."""
    values: dict[str, Any] = dict(zip(STORED, row, strict=False))  # other columns may follow
    values["metadata"] = msgspec.json.decode(values["metadata"])
    for name in _LISTS:
        values[name] = tuple(msgspec.json.decode(values[name])) if values[name] else ()
    return Customer(**values)


def _params(customer: Customer) -> dict[str, object]:
    lists = {name: _encode_list(getattr(customer, name)) for name in _LISTS}
    return (
        msgspec.structs.asdict(customer)
        | lists
        | {
            "email_identity": representation.email_identity(customer.email),
            "metadata": msgspec.json.encode(customer.metadata).decode(),
            "reference": rules.reference(customer),
        }
    )


def _encode_list(texts: tuple[str, ...]) -> str | None:
    return msgspec.json.encode(texts).decode() if texts else None
