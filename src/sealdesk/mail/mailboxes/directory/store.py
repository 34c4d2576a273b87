"""The SQL of the directory of addresses, which is read before the tenant is known."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.mail.mailboxes.types import Receives

_FIND = """
SELECT tenant_id, mailbox_id FROM mailbox_directory
WHERE address_identity = :address_identity LIMIT 1
"""
_CLAIM = """
INSERT INTO mailbox_directory
    (address_identity, tenant_id, mailbox_id, receives, leased_by, leased_until)
VALUES (:address_identity, :tenant_id, :mailbox_id, :receives, NULL, NULL)
ON CONFLICT (address_identity) DO NOTHING
"""
# Ends the lease: whoever reads the folder does so with the old settings.
_SET_RECEIVES = """
UPDATE mailbox_directory SET receives = :receives, leased_by = NULL, leased_until = NULL
WHERE address_identity = :address_identity AND mailbox_id = :mailbox_id
"""
_RELEASE = """
DELETE FROM mailbox_directory
WHERE address_identity = :address_identity AND mailbox_id = :mailbox_id
"""
_LIST_READABLE = """
SELECT address_identity, tenant_id, mailbox_id, leased_by FROM mailbox_directory
WHERE receives = 'imap' AND (leased_by = :reader OR leased_until IS NULL OR leased_until <= :now)
ORDER BY address_identity LIMIT :limit
"""
_LEASE = """
UPDATE mailbox_directory SET leased_by = :reader, leased_until = :until
WHERE address_identity = :address_identity AND mailbox_id = :mailbox_id AND receives = 'imap'
    AND (leased_until IS NULL OR leased_until <= :now)
"""
_RENEW_LEASES = """
UPDATE mailbox_directory SET leased_until = :until WHERE leased_by = :reader
"""
_END_LEASES = """
UPDATE mailbox_directory SET leased_by = NULL, leased_until = NULL WHERE leased_by = :reader
"""
_END_ALL_LEASES = """
UPDATE mailbox_directory SET leased_by = NULL, leased_until = NULL WHERE leased_by IS NOT NULL
"""


class Place(NamedTuple):
    """Whose mailbox an address is."""

    tenant_id: str
    mailbox_id: str


class Readable(NamedTuple):
    """A folder that a process may read. is_leased: to this process."""

    address_identity: str
    place: Place
    is_leased: bool


class Lease(NamedTuple):
    """reader: the process. until: in microseconds."""

    reader: str
    until: int


async def find(tx: Tx, address_identity: str) -> Place | None:
    """The mailbox of an address, of any tenant."""
    row = await tx.fetch_one(_FIND, {"address_identity": address_identity})
    return None if row is None else Place(row["tenant_id"], row["mailbox_id"])


async def claim(tx: Tx, address_identity: str, place: Place, receives: Receives) -> bool:
    """Give an address to a mailbox; False if it belongs to one already."""
    params = {"address_identity": address_identity, **place._asdict(), "receives": receives}
    return await tx.execute(_CLAIM, params) == 1


async def set_receives(
    tx: Tx, address_identity: str, mailbox_id: str, receives: Receives
) -> None:  # fmt: skip
    """Store how a mailbox receives; `no` also while it is paused. Ends the lease of its folder."""
    params = {"address_identity": address_identity, "mailbox_id": mailbox_id}
    await tx.execute(_SET_RECEIVES, {**params, "receives": receives})


async def release(tx: Tx, address_identity: str, mailbox_id: str) -> None:
    """Let other mailboxes have the address."""
    params = {"address_identity": address_identity, "mailbox_id": mailbox_id}
    await tx.execute(_RELEASE, params)


async def list_readable(tx: Tx, reader: str, now_us: int, limit: int) -> list[Readable]:
    """Folders of all tenants that this process reads, or may begin to read."""
    rows = await tx.fetch_all(_LIST_READABLE, {"reader": reader, "now": now_us, "limit": limit})
    return [
        Readable(
            row["address_identity"],
            Place(row["tenant_id"], row["mailbox_id"]),
            row["leased_by"] == reader,
        )
        for row in rows
    ]


async def lease(tx: Tx, found: Readable, wanted: Lease, now_us: int) -> bool:
    """Lease a folder to a process; False if another one has it."""
    params = {"address_identity": found.address_identity, "mailbox_id": found.place.mailbox_id}
    return await tx.execute(_LEASE, {**params, **wanted._asdict(), "now": now_us}) == 1


async def renew_leases(tx: Tx, wanted: Lease) -> None:
    """Renew the leases of a process."""
    await tx.execute(_RENEW_LEASES, wanted._asdict())


async def end_leases(tx: Tx, reader: str) -> None:
    """End the leases of a process."""
    await tx.execute(_END_LEASES, {"reader": reader})


async def end_all_leases(tx: Tx) -> None:
    """End the leases of all processes."""
    await tx.execute(_END_ALL_LEASES, {})
