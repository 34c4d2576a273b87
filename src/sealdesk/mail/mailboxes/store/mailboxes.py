"""The SQL of mailboxes."""

from collections.abc import Iterable, Sequence

import msgspec

from sealdesk.db.column_lists import column_list, insert_into, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.mail.mailboxes import rules
from sealdesk.mail.mailboxes.types import Mailbox, address_identity
from sealdesk.resources.paging import PageRequest

_STORED = Mailbox.__struct_fields__
_COLUMNS = column_list(_STORED)
_LISTS = ("aliases", "options", "unverified")  # JSON, NULL without any
_SEALED = tuple(rules.SEALED.values())
_CHANGED = (
    *rules.FIELDS,
    *_SEALED,
    "oauth_provider",
    "address_identity",
    "unverified",
    "problem",
    "uid_validity",
    "last_uid",
    "read_at",
    "deleted_at",
    "version",
)
_FIND = f"""
SELECT {_COLUMNS} FROM mailboxes
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL LIMIT 1
"""
_FIND_EVER = f"""
SELECT {_COLUMNS} FROM mailboxes WHERE tenant_id = :tenant_id AND id = :id LIMIT :limit
"""
_LIST = f"""
SELECT {_COLUMNS} FROM mailboxes
WHERE tenant_id = :tenant_id AND id < :before AND deleted_at IS NULL ORDER BY id DESC LIMIT :limit
"""
_LIST_SEALED = """
SELECT id FROM mailboxes WHERE tenant_id = :tenant_id AND id > :after AND deleted_at IS NULL
    AND (sealed_imap_password IS NOT NULL OR sealed_smtp_password IS NOT NULL
        OR sealed_refresh_token IS NOT NULL)
ORDER BY id LIMIT :limit
"""
_COUNT_FAILING = """
SELECT count(*) AS number FROM mailboxes
WHERE tenant_id = :tenant_id AND problem IS NOT NULL AND deleted_at IS NULL AND NOT is_paused
"""
_ADD = insert_into("mailboxes", _STORED)
_REPLACE = f"{update_row('mailboxes', _CHANGED)} AND deleted_at IS NULL"
_SET_PROBLEM = f"{update_row('mailboxes', 'problem')} AND deleted_at IS NULL"
_STORE_PASSWORDS = f"{update_row('mailboxes', _SEALED)} AND deleted_at IS NULL"
_ROTATE = """
UPDATE mailboxes SET sealed_refresh_token = :rotated
WHERE tenant_id = :tenant_id AND id = :id AND sealed_refresh_token = :sealed_refresh_token
"""


async def find(tx: Tx, tenant_id: str, mailbox_id: str) -> Mailbox | None:
    """The mailbox unless it is deleted."""
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": mailbox_id})
    return None if row is None else _mailbox(row)


async def find_ever(tx: Tx, tenant_id: str, mailbox_id: str) -> Mailbox | None:
    """The mailbox, also a deleted one, for the messages that it has received."""
    row = await tx.fetch_one(_FIND_EVER, {"tenant_id": tenant_id, "id": mailbox_id, "limit": 1})
    return None if row is None else _mailbox(row)


async def list_addresses(tx: Tx, tenant_id: str, mailbox_ids: Iterable[str]) -> dict[str, str]:
    """The addresses of these mailboxes by their ids, also of deleted ones."""
    many = [{"tenant_id": tenant_id, "id": each, "limit": 1} for each in mailbox_ids]
    found = await tx.fetch_for_each(_FIND_EVER, many) if many else []
    return {row["id"]: row["address"] for rows in found for row in rows}


async def list_mailboxes(tx: Tx, tenant_id: str, page: PageRequest) -> list[Mailbox]:
    """Newest first; one more than the page when there are more."""
    params = page.params(tenant_id)
    return [_mailbox(row) for row in await tx.fetch_all(_LIST, params)]


async def list_all(tx: Tx, tenant_id: str) -> list[Mailbox]:
    """All mailboxes of a tenant, newest first."""
    return await list_mailboxes(tx, tenant_id, PageRequest(rules.MAX_MAILBOXES, None))


async def count_failing(tx: Tx, tenant_id: str) -> int:
    """How many mailboxes that are not paused have a problem."""
    row = await tx.fetch_one(_COUNT_FAILING, {"tenant_id": tenant_id})
    return int(row["number"]) if row else 0


async def list_sealed(tx: Tx, tenant_id: str, after: str, limit: int) -> Sequence[str]:
    """The ids of a tenant's mailboxes that have a secret, for resealing."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_LIST_SEALED, params)]


async def add(tx: Tx, mailbox: Mailbox) -> None:
    await tx.execute_one(_ADD, _params(mailbox))


async def replace(tx: Tx, mailbox: Mailbox) -> None:
    """Store a changed or deleted mailbox."""
    await tx.execute_one(_REPLACE, _params(mailbox))


async def set_problem(tx: Tx, tenant_id: str, mailbox_id: str, problem: str | None) -> None:
    """Store what is wrong. problem: JSON of Problems."""
    params = {"tenant_id": tenant_id, "id": mailbox_id, "problem": problem}
    await tx.execute_one(_SET_PROBLEM, params)


async def rotate_refresh_token(tx: Tx, mailbox: Mailbox, new: bytes) -> None:
    """Store the sealed token that the provider gives in place of the present one."""
    params = {
        "tenant_id": mailbox.tenant_id,
        "id": mailbox.id,
        "sealed_refresh_token": mailbox.sealed_refresh_token,
        "rotated": new,
    }
    await tx.execute(_ROTATE, params)


async def store_passwords(tx: Tx, mailbox: Mailbox) -> None:
    """Store the sealed secrets of a mailbox."""
    await tx.execute_one(_STORE_PASSWORDS, _params(mailbox))


def _mailbox(row: Row) -> Mailbox:
    values = {**row, "is_paused": bool(row["is_paused"])}
    for name in _LISTS:
        values[name] = tuple(msgspec.json.decode(values[name])) if values[name] else ()
    values["unverified"] = tuple(map(address_identity, values["unverified"]))
    return Mailbox(**values)


def _params(mailbox: Mailbox) -> dict[str, object]:
    values = msgspec.structs.asdict(mailbox)
    encoded = {name: msgspec.json.encode(values[name]).decode() for name in _LISTS if values[name]}
    return values | dict.fromkeys(_LISTS) | encoded
