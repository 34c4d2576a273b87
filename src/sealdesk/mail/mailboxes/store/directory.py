"""The SQL of the directory of addresses, which is read before the tenant is known."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db.column_lists import select_row
from sealdesk.db.engine import Tx
from sealdesk.mail.mailboxes.types import ListedAs, base_address
from sealdesk.resources.paging import PageRequest

_FIND = select_row(
    "mailbox_directory", "address_identity, tenant_id, mailbox_id, receives", "address_identity"
)
_CLAIM = """
INSERT INTO mailbox_directory
    (address_identity, tenant_id, mailbox_id, receives, leased_by, leased_until)
VALUES (:address_identity, :tenant_id, :mailbox_id, :receives, NULL, NULL)
ON CONFLICT (address_identity) DO UPDATE
SET mailbox_id = EXCLUDED.mailbox_id, receives = EXCLUDED.receives
WHERE mailbox_directory.tenant_id = EXCLUDED.tenant_id AND mailbox_directory.receives = 'former'
"""
_FIND_PLUS_FORM = """
SELECT address_identity FROM mailbox_directory
WHERE address_identity > :low AND address_identity < :high AND address_identity LIKE :pattern
    AND tenant_id <> :tenant_id LIMIT 1
"""
# Ends the lease: whoever reads the folder does so with the old settings.
_SET_RECEIVES = """
UPDATE mailbox_directory SET receives = :receives, leased_by = NULL, leased_until = NULL
WHERE address_identity = :address_identity AND mailbox_id = :mailbox_id
"""
_ASSIGN_DOMAIN = """
INSERT INTO mailbox_directory
    (address_identity, tenant_id, mailbox_id, receives, leased_by, leased_until)
VALUES (:domain, :tenant_id, '', 'domain', NULL, NULL)
ON CONFLICT (address_identity) DO NOTHING
"""
_RELEASE_DOMAIN = """
DELETE FROM mailbox_directory WHERE address_identity = :domain AND receives = 'domain'
"""
_DEMO = "SELECT note FROM installation_notes WHERE name = 'demo' LIMIT 1"
_DESKS = """
SELECT id FROM tenants WHERE id <> :demo
    AND NOT EXISTS (SELECT 1 FROM test_tenants t WHERE t.tenant_id = tenants.id)
ORDER BY id LIMIT 2
"""
# All that begins with an @.
_LIST_DOMAINS = """
SELECT address_identity, tenant_id FROM mailbox_directory
WHERE address_identity > :after AND address_identity < 'A' AND receives = 'domain'
ORDER BY address_identity LIMIT :limit
"""
_LIST_CONTESTED = """
SELECT address_identity, tenant_id FROM mailbox_directory
WHERE address_identity LIKE :pattern AND tenant_id <> :tenant_id
    AND receives NOT IN ('former', 'domain')
ORDER BY address_identity LIMIT :limit
"""
_LIST_PLUS_FORMS = """
SELECT address_identity, tenant_id FROM mailbox_directory
WHERE address_identity LIKE '%+%@%' AND receives NOT IN ('former', 'domain')
ORDER BY address_identity LIMIT :limit
"""
_LIST_FORMER = """
SELECT address_identity FROM mailbox_directory
WHERE tenant_id = :tenant_id AND receives = 'former' AND address_identity > :after
ORDER BY address_identity LIMIT :limit
"""
_FREE = """
DELETE FROM mailbox_directory WHERE address_identity = :address_identity
    AND tenant_id = :tenant_id AND receives = 'former'
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


# In place of a tenant: every one may have addresses of the domain.
EVERYBODY = ""


class Domain(NamedTuple):
    """A domain that is assigned to a tenant, or to EVERYBODY. name: with @ before it."""

    name: str
    tenant_id: str


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
    """The mailbox that has an address now, of any tenant."""
    row = await tx.fetch_one(_FIND, {"address_identity": address_identity})
    is_had = row is not None and row["receives"] != "former"
    return Place(row["tenant_id"], row["mailbox_id"]) if row and is_had else None


async def find_tenants(tx: Tx, identities: Sequence[str]) -> dict[str, str]:
    """Those of these addresses that a mailbox has or had, with its tenant, of any."""
    many = [{"address_identity": each} for each in identities]
    found = await tx.fetch_for_each(_FIND, many) if many else []
    return {row["address_identity"]: row["tenant_id"] for rows in found for row in rows}


async def claim(tx: Tx, address_identity: str, place: Place, receives: ListedAs) -> bool:
    """Give an address to a mailbox.

    False if a mailbox has it, or if another tenant has or had a form of it with or without a +.
    """
    if await is_of_other(tx, address_identity, place.tenant_id):
        return False
    params = {"address_identity": address_identity, **place._asdict(), "receives": receives}
    return await tx.execute(_CLAIM, params) == 1


async def set_receives(tx: Tx, address_identity: str, mailbox_id: str, receives: ListedAs) -> None:
    """Store how a mailbox receives; `no` also while it is paused. Ends the lease of its folder."""
    params = {"address_identity": address_identity, "mailbox_id": mailbox_id}
    await tx.execute(_SET_RECEIVES, {**params, "receives": receives})


async def retire(tx: Tx, address_identity: str, mailbox_id: str) -> None:
    """Take an address from its mailbox; other tenants get it when it is freed."""
    await set_receives(tx, address_identity, mailbox_id, "former")


async def list_former(tx: Tx, tenant_id: str, page: PageRequest) -> list[str]:
    """The retired addresses of a tenant, one more than the page when there are more."""
    after = page.after[0] if page.after else ""
    params = {"tenant_id": tenant_id, "after": after, "limit": page.per_page + 1}
    return [row["address_identity"] for row in await tx.fetch_all(_LIST_FORMER, params)]


async def free(tx: Tx, tenant_id: str, address_identity: str) -> bool:
    """Let other tenants have a retired address; False if the tenant has no such."""
    params = {"tenant_id": tenant_id, "address_identity": address_identity}
    return await tx.execute(_FREE, params) == 1


async def find_assigned(tx: Tx, address_identity: str) -> Domain | None:
    """The domain of an address, if it is assigned."""
    domain = f"@{address_identity.rpartition('@')[2]}"
    tenant_id = (await find_tenants(tx, [domain])).get(domain)
    return None if tenant_id is None else Domain(domain, tenant_id)


async def assign_domain(tx: Tx, domain: Domain) -> bool:
    """Give a domain to a tenant; False if it is assigned."""
    params = {"domain": domain.name, "tenant_id": domain.tenant_id}
    return await tx.execute(_ASSIGN_DOMAIN, params) == 1


async def release_domain(tx: Tx, name: str) -> bool:
    """Let every tenant have addresses of a domain; False if it is not assigned."""
    return await tx.execute(_RELEASE_DOMAIN, {"domain": name}) == 1


async def list_domains(tx: Tx, after: str, limit: int) -> list[Domain]:
    """The assigned domains, by name."""
    rows = await tx.fetch_all(_LIST_DOMAINS, {"after": after or "@", "limit": limit})
    return [Domain(row["address_identity"], row["tenant_id"]) for row in rows]


async def list_contested(tx: Tx, domain: Domain, limit: int) -> dict[str, str]:
    """The addresses of mailboxes of other tenants in a domain, with the tenants."""
    params = {"pattern": f"%{domain.name}", "tenant_id": domain.tenant_id, "limit": limit}
    rows = await tx.fetch_all(_LIST_CONTESTED, params)
    return {row["address_identity"]: row["tenant_id"] for row in rows}


async def list_contested_forms(tx: Tx, limit: int) -> dict[str, str]:
    """Addresses with a + whose form without it is another tenant's, with their tenants.

    limit: of the addresses with a +. Such mailboxes were created before this was refused.
    """
    rows = await tx.fetch_all(_LIST_PLUS_FORMS, {"limit": limit})
    tenants = {row["address_identity"]: row["tenant_id"] for row in rows}
    owners = await find_tenants(tx, sorted({base_address(each) for each in tenants}))
    return {
        address: tenant_id
        for address, tenant_id in tenants.items()
        if owners.get(base_address(address), tenant_id) != tenant_id
    }


async def is_of_other(tx: Tx, address_identity: str, tenant_id: str) -> bool:
    """Whether another tenant has or had a form of an address; nobody gets one meanwhile."""
    base = base_address(address_identity)
    await tx.lock(f"mailbox address {base}")
    owner = (await find_tenants(tx, [base])).get(base, tenant_id)
    local, _, domain = base.rpartition("@")
    # "," follows "+" in the order of bytes.
    limits = {"low": f"{local}+", "high": f"{local},", "pattern": f"%@{domain}"}
    form = await tx.fetch_one(_FIND_PLUS_FORM, {**limits, "tenant_id": tenant_id})
    return owner != tenant_id or form is not None


async def is_known(tx: Tx, address_identity: str, tenant_id: str) -> bool:
    """Whether a tenant has or had an address, or what it is without a +."""
    forms = sorted({address_identity, base_address(address_identity)})
    return tenant_id in (await find_tenants(tx, forms)).values()


async def has_many_desks(tx: Tx) -> bool:
    """Whether there is more than one tenant besides the demo and those of test keys."""
    demo = await tx.fetch_one(_DEMO, {})
    return len(await tx.fetch_all(_DESKS, {"demo": demo["note"] if demo else ""})) > 1


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
    await tx.execute(_RENEW_LEASES, wanted._asdict())


async def end_leases(tx: Tx, reader: str) -> None:
    await tx.execute(_END_LEASES, {"reader": reader})


async def end_all_leases(tx: Tx) -> None:
    await tx.execute(_END_ALL_LEASES, {})
