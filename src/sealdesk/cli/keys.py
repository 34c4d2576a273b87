"""`sealdesk keys`: creates, lists, revokes and rotates API keys; reseals secrets."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, NamedTuple

import typer

from sealdesk.api_keys import actions, journal, rules, store
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS, PERMISSIONS
from sealdesk.api_keys.test_mode import tenants
from sealdesk.api_keys.types import ApiKey, ApiKeyResponse, NewApiKey
from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import Installation, open_installation
from sealdesk.cli.output import JsonOption, print_json, print_table
from sealdesk.crypto.sealing import UnsealError
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ConfigurationError, NotFound
from sealdesk.errors.general import NOT_FOUND
from sealdesk.identity.two_factor import actions as two_factor
from sealdesk.identity.two_factor import store as two_factor_store
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.store import mailboxes as mailbox_store
from sealdesk.records import test_tenants
from sealdesk.resources.paging import PageRequest
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.store import endpoints as webhook_store

_PAGE_ROWS = 200
_NO_SUCH_KEY = NOT_FOUND.variant("There is no such key; sealdesk keys list --tenant ID shows them.")
ListSealed = Callable[[Tx, str, str, int], Awaitable[Sequence[str]]]

cli = command_group("Create, list, revoke, rotate and confirm API keys.")
TenantId = Annotated[str, typer.Option("--tenant", metavar="ID", help="The tenant of the key.")]
_DEFAULT = "those of tickets, replies, customers"
TestOption = Annotated[
    bool, typer.Option("--test", help="Create a test key, with data and a clock of its own.")
]
KeyId = Annotated[
    str, typer.Argument(metavar="KEY_ID", help="The key's ID; sealdesk keys list shows it.")
]


@cli.command(
    epilog=f"""\b
Permissions: {", ".join(PERMISSIONS)}

\b
Examples:
  sealdesk keys create --tenant ID --name Shop
  sealdesk keys create --tenant ID --name "Shop, trial" --test
  sealdesk keys create --tenant ID --name Reports --permission tickets:read \\
      --permission customers:read --expires-at 2027-01-31T00:00:00Z --json"""
)
def create(
    tenant: TenantId,
    name: Annotated[str, typer.Option(help="A name that says what the key is for.")],
    permission: Annotated[
        list[str] | None,
        typer.Option(help=f"A permission of the key; repeat for several. [default: {_DEFAULT}]"),
    ] = None,
    rate_limit: Annotated[
        int | None, typer.Option(help="Requests per minute. [default: 1000]")
    ] = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When the key expires, in ISO 8601.")
    ] = None,
    test: TestOption = False,
    json: JsonOption = False,
) -> None:
    """Create an API key. Its secret is shown only once."""
    # 35 ms to import, with the metrics and the HTTP client, which other commands do not need.
    from sealdesk.web import body

    fields = {"name": name, "permissions": permission or None, "rate_limit": rate_limit}
    new_key = body.convert({**fields, "expires_at": expires_at}, NewApiKey)
    with open_installation() as installation:
        installation.get_tenant(tenant)
        now_us = installation.clock.now_us()
        owner = _open_test_tenant(installation, tenant) if test else tenant
        created = installation.act(
            owner, actions.create_key, new_key, key_ring=installation.key_ring, now_us=now_us
        )
        _journal(installation, "created", owner, created.id)
    if json:
        return print_json(created)
    print(f"Created key {created.name} with the ID {created.id}. Its secret is shown only now:\n")
    print(f"  SEALDESK_API_KEY={created.api_key}\n  SEALDESK_API_SECRET={created.api_secret}")


@cli.command("list")
def list_keys(tenant: TenantId, json: JsonOption = False) -> None:
    """List a tenant's keys, newest first, with revoked, expired and test ones."""
    with open_installation() as installation:
        installation.get_tenant(tenant)
        now_us = installation.clock.now_us()
        found = _iterate_keys(installation, tenant)
        keys = [ApiKeyResponse(**rules.shown(key, now_us)) for key in found]
    if json:
        print_json(keys)
        return
    columns = ("ID", "NAME", "KEY", "ACTIVE", "PER MINUTE", "LAST USED", "PERMISSIONS")
    rows = [
        (
            k.id,
            k.name,
            f"{k.key_prefix}…",
            k.is_active,
            k.rate_limit,
            k.last_used_at,
            _format_permissions(k),
        )
        for k in keys
    ]
    print_table(columns, rows)


def _format_permissions(key: ApiKeyResponse) -> str:
    if key.permissions == DEFAULT_PERMISSIONS:
        return "default"
    return ", ".join(key.permissions) or "none"


@cli.command(epilog="Example: sealdesk keys revoke KEY_ID")
def revoke(key_id: KeyId) -> None:
    """Revoke a key for good. The next request with it is refused."""
    with open_installation() as installation:
        owner, now_us = _get_tenant_of_key(installation, key_id), installation.clock.now_us()
        installation.act(owner, actions.revoke_key, key_id, now_us=now_us)
        _journal(installation, "revoked", owner, key_id)
    print(f"Key {key_id} is revoked.")


@cli.command(epilog="Example: sealdesk keys rotate KEY_ID")
def rotate(key_id: KeyId, json: JsonOption = False) -> None:
    """Replace a key's secret. The old one stops working at once; the new one is shown only once."""
    with open_installation() as installation:
        owner, now_us = _get_tenant_of_key(installation, key_id), installation.clock.now_us()
        rotated = installation.act(
            owner, actions.rotate_key, key_id, key_ring=installation.key_ring, now_us=now_us
        )
        _journal(installation, "rotated", owner, key_id)
    if json:
        print_json(rotated)
        return
    print(f"Key {rotated.name} has a new secret, shown only now:\n")
    print(f"  SEALDESK_API_SECRET={rotated.api_secret}")


@cli.command(epilog="Examples: sealdesk keys confirm KEY_ID; sealdesk keys confirm --all")
def confirm(
    key_id: Annotated[str, typer.Argument(metavar="[KEY_ID]", help="The key's ID.")] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Confirm all keys except those known to be revoked.")
    ] = False,
) -> None:
    """Let keys work again after a restore. They are off until they are confirmed.

    Confirm a key only if it was not revoked or rotated after the backup.
    """
    if every == bool(key_id):
        raise typer.BadParameter("name a key, or give --all")
    with open_installation() as installation:
        count = _confirm_all(installation) if every else _confirm_one(installation, key_id)
    print(f"Confirmed {count} {'key' if count == 1 else 'keys'}.")


def _confirm_one(installation: Installation, key_id: str) -> int:
    owner, now_us = _get_tenant_of_key(installation, key_id), installation.clock.now_us()
    installation.act(owner, actions.confirm_key, key_id, now_us=now_us)
    return 1


def _confirm_all(installation: Installation) -> int:
    total, now_us = 0, installation.clock.now_us()
    data_dir = installation.settings.data_dir
    revoked = installation.read(lambda tx: journal.known_revoked(tx, data_dir))
    for tenant in installation.iterate_tenants():
        while count := installation.act(
            tenant.id, actions.confirm_keys, known_revoked=revoked, now_us=now_us
        ):
            total += count
    return total


@cli.command(epilog="Set SEALDESK_MASTER_KEY=NEW,OLD; restart; reseal; then set it to NEW alone.")
def reseal() -> None:
    """Seal every secret under the first master key.

    Covers the secrets of API keys, webhook endpoints and authenticator apps, and the passwords of
    mailboxes. Afterwards the other master keys can be removed.
    """
    # rich.progress takes 23 ms to import, which no other command of this module needs.
    from rich.progress import track

    with open_installation() as installation:
        sealed = [
            (owner, *ids)
            for owner in _SECRET_OWNERS
            for ids in iterate_sealed(installation, owner.list_sealed)
        ]
        rows = track(sealed, "Sealing", transient=True, disable=not sys.stdout.isatty())
        resealed = sum(installation.write(_reseal(installation, *row), row[1]) for row in rows)
    print(f"Resealed {resealed} of {len(sealed)} secrets; the others already were.")


class _SecretOwner(NamedTuple):
    """A kind of object with a sealed secret. name: the noun for error messages."""

    name: str
    list_sealed: ListSealed
    reseal: Callable[..., Awaitable[bool]]


_SECRET_OWNERS = (
    _SecretOwner("key", store.list_sealed, actions.reseal_key),
    _SecretOwner("webhook", webhook_store.list_sealed, webhooks.reseal_webhook),
    _SecretOwner("mailbox", mailbox_store.list_sealed, mailboxes.reseal_mailbox),
    _SecretOwner("two-factor user", two_factor_store.list_sealed, two_factor.reseal),
)


def iterate_sealed(
    installation: Installation, list_sealed: ListSealed = store.list_sealed
) -> Iterator[tuple[str, str]]:
    """Yield (tenant id, object id) of all objects that `list_sealed` lists; default: API keys."""
    for tenant in installation.iterate_tenants():
        page_after = partial(_list_sealed_after, list_sealed, tenant.id)
        yield from ((tenant.id, found) for found in installation.iterate(page_after, tenant.id))


def _list_sealed_after(
    list_sealed: ListSealed, tenant_id: str, last: str | None
) -> Work[Sequence[str]]:
    return lambda tx: list_sealed(tx, tenant_id, last or "", _PAGE_ROWS)


def _reseal(
    installation: Installation, owner: _SecretOwner, tenant_id: str, owner_id: str
) -> Work[bool]:
    async def work(tx: Tx) -> bool:
        try:
            return await owner.reseal(tx, tenant_id, owner_id, key_ring=installation.key_ring)
        except UnsealError as error:
            raise ConfigurationError(
                f"the secret of {owner.name} {owner_id} cannot be opened: {error};"
                " add the master key that sealed it to SEALDESK_MASTER_KEY"
            ) from error

    return work


def _journal(
    installation: Installation, kind: journal.ChangeType, tenant: str, key_id: str
) -> None:
    now_us = installation.clock.now_us()
    journal.record(installation.settings.data_dir, kind, tenant, key_id, now_us=now_us)


def _get_tenant_of_key(installation: Installation, key_id: str) -> str:
    """Reads tenant by tenant, as no index leads from the id of a key to its tenant."""
    for tenant in installation.iterate_tenants():
        if installation.fetch(tenant.id, store.find, key_id) is not None:
            return tenant.id
    raise NotFound(_NO_SUCH_KEY)


def _open_test_tenant(installation: Installation, tenant_id: str) -> str:
    """The id of the test tenant, which is made if there is none."""
    now_us = installation.clock.now_us()
    agents = installation.fetch(tenant_id, tenants.read_agents)
    return installation.write(lambda tx: tenants.open_test_tenant(tx, tenant_id, agents, now_us))


def _iterate_keys(installation: Installation, tenant_id: str) -> Iterator[ApiKey]:
    """The live keys of a tenant, then its test keys, newest first."""
    yield from installation.iterate(partial(_list_page_after, tenant_id), tenant_id)
    found = installation.read(lambda tx: test_tenants.find_of(tx, tenant_id))
    if found is not None:
        test_id = found.tenant_id
        yield from installation.iterate(partial(_list_page_after, test_id), test_id)


def _list_page_after(tenant_id: str, last: ApiKey | None) -> Work[Sequence[ApiKey]]:
    page = PageRequest(_PAGE_ROWS, [last.id] if last else None)
    return lambda tx: store.list_keys(tx, tenant_id, page)
