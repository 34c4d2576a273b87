"""`sealdesk keys`: make API keys, see which there are, end or renew them."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, NamedTuple

import typer

from sealdesk.api_keys import actions, rules, store
from sealdesk.api_keys.rules import ApiKey, ApiKeyShown, NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.cli import installation
from sealdesk.cli.installation import Desk
from sealdesk.cli.output import AsJson, as_json, table
from sealdesk.crypto.sealing import UnsealError
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ConfigurationError, NotFound
from sealdesk.identity import store as identity
from sealdesk.identity.store import Tenant
from sealdesk.paging import PageRequest
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.store import endpoints as webhook_store

_PAGE_ROWS = 200
ListSealed = Callable[[Tx, str, str, int], Awaitable[Sequence[str]]]

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make API keys, see which there are, end or renew them.",
)
TenantId = Annotated[str, typer.Option("--tenant", metavar="ID", help="The key's tenant.")]
KeyId = Annotated[str, typer.Argument(metavar="KEY_ID", help="As sealdesk keys list shows it.")]


@cli.command(
    epilog=f"""\b
Permissions: {", ".join(rules.PERMISSIONS)}

\b
Examples:
  sealdesk keys create --tenant ID --name Shop
  sealdesk keys create --tenant ID --name Reports --permission tickets:read \\
      --permission customers:read --expires-at 2027-01-31T00:00:00Z --json"""
)
def create(
    tenant: TenantId,
    name: Annotated[str, typer.Option(help="What the key is for.")],
    permission: Annotated[
        list[str] | None,
        typer.Option(help="What it may do; repeat it for several. Without any: everything."),
    ] = None,
    rate_limit: Annotated[
        int | None, typer.Option(help="Requests per minute; 1000 if left out.")
    ] = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it ends, in ISO 8601.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Make an API key. Its secret is shown this once only."""
    from sealdesk.web import body

    wanted = {
        "name": name,
        "permissions": permission or None,
        "rate_limit": rate_limit,
        "expires_at": expires_at,
    }
    new = body.convert(wanted, NewApiKey)
    with installation.opened() as desk:
        desk.get_tenant(tenant)
        now_us = desk.clock.now_us()
        created = desk.write(
            lambda tx: actions.create_key(
                tx, _caller(tenant), new, key_ring=desk.key_ring, now_us=now_us
            ),
            tenant,
        )
    if json:
        as_json(created)
        return
    print(f"Made key {created.name} with the id {created.id}. Its secret is shown only now:\n")
    print(f"  SEALDESK_API_KEY={created.api_key}")
    print(f"  SEALDESK_API_SECRET={created.api_secret}")


@cli.command("list")
def list_keys(tenant: TenantId, json: AsJson = False) -> None:
    """List a tenant's keys, newest first, revoked and expired ones too."""
    with installation.opened() as desk:
        desk.get_tenant(tenant)
        now_us = desk.clock.now_us()
        found = desk.walk(lambda last: _page_after(tenant, last), tenant)
        keys = [ApiKeyShown(**rules.shown(key, now_us)) for key in found]
    if json:
        as_json(keys)
        return
    columns = ("ID", "NAME", "KEY", "ACTIVE", "PER MINUTE", "LAST USED", "PERMISSIONS")
    rows = [
        (k.id, k.name, f"{k.key_prefix}…", k.is_active, k.rate_limit, k.last_used_at, _may(k))
        for k in keys
    ]
    table(columns, rows)


def _page_after(tenant_id: str, last: ApiKey | None) -> Work[Sequence[ApiKey]]:
    page = PageRequest(_PAGE_ROWS, [last.id] if last else None)
    return lambda tx: store.list_keys(tx, tenant_id, page)


def _may(key: ApiKeyShown) -> str:
    return "all" if key.permissions == rules.PERMISSIONS else ", ".join(key.permissions) or "none"


@cli.command(epilog="Example: sealdesk keys revoke KEY_ID")
def revoke(key_id: KeyId) -> None:
    """End a key for good; the very next request with it is refused."""
    with installation.opened() as desk:
        caller, now_us = _caller_for(desk, key_id), desk.clock.now_us()
        desk.write(
            lambda tx: actions.revoke_key(tx, caller, key_id, now_us=now_us), caller.tenant_id
        )
    print(f"Key {key_id} is revoked.")


@cli.command(epilog="Example: sealdesk keys rotate KEY_ID")
def rotate(key_id: KeyId, json: AsJson = False) -> None:
    """Give a key a new secret, shown this once only; the old one is dead at once."""
    with installation.opened() as desk:
        caller, now_us = _caller_for(desk, key_id), desk.clock.now_us()
        rotated = desk.write(
            lambda tx: actions.rotate_key(
                tx, caller, key_id, key_ring=desk.key_ring, now_us=now_us
            ),
            caller.tenant_id,
        )
    if json:
        as_json(rotated)
        return
    print(f"Key {rotated.name} has a new secret, shown only now:\n")
    print(f"  SEALDESK_API_SECRET={rotated.api_secret}")


@cli.command(epilog="Set SEALDESK_MASTER_KEY=NEW,OLD; restart; reseal; then set it to NEW alone.")
def reseal() -> None:
    """Seal every secret under the first of the master keys, so that the others can go."""
    from rich.progress import track

    with installation.opened() as desk:
        sealed = [
            (holder, *ids) for holder in _HOLDERS for ids in sealed_of_all(desk, holder.list_sealed)
        ]
        done = track(sealed, "Sealing", transient=True, disable=not sys.stdout.isatty())
        resealed = sum(desk.write(_reseal(desk, *one), one[1]) for one in done)
    print(f"Sealed {resealed} of {len(sealed)} secrets anew; the others were already.")


class _Holder(NamedTuple):
    """What has a secret. name: what people call it."""

    name: str
    list_sealed: ListSealed
    reseal: Callable[..., Awaitable[bool]]


_HOLDERS = (
    _Holder("key", store.list_sealed, actions.reseal_key),
    _Holder("webhook", webhook_store.list_sealed, webhooks.reseal_webhook),
)


def sealed_of_all(
    desk: Desk, list_sealed: ListSealed = store.list_sealed
) -> Iterator[tuple[str, str]]:
    """(tenant id, id) of all keys that have a secret, or of what else `list_sealed` lists."""
    for tenant in desk.walk(_tenants_after):
        page_after = partial(_sealed_after, list_sealed, tenant.id)
        yield from ((tenant.id, found) for found in desk.walk(page_after, tenant.id))


def _sealed_after(list_sealed: ListSealed, tenant_id: str, last: str | None) -> Work[Sequence[str]]:
    return lambda tx: list_sealed(tx, tenant_id, last or "", _PAGE_ROWS)


def _reseal(desk: Desk, holder: _Holder, tenant_id: str, holder_id: str) -> Work[bool]:
    async def work(tx: Tx) -> bool:
        try:
            return await holder.reseal(tx, tenant_id, holder_id, key_ring=desk.key_ring)
        except UnsealError as error:
            raise ConfigurationError(
                f"the secret of {holder.name} {holder_id} cannot be opened: {error};"
                " add the master key that sealed it to SEALDESK_MASTER_KEY"
            ) from error

    return work


def _caller(tenant_id: str) -> Caller:
    return Caller(tenant_id, SYSTEM, frozenset(), "")


def _caller_for(desk: Desk, key_id: str) -> Caller:
    """Who may change this key. No index leads from a key's id alone to its tenant, so it is
    looked for in each."""
    for tenant in desk.walk(_tenants_after):
        if desk.read(partial(find_key, tenant.id, key_id), tenant.id) is not None:
            return _caller(tenant.id)
    raise NotFound("There is no such key; sealdesk keys list --tenant ID shows them.")


async def find_key(tenant_id: str, key_id: str, tx: Tx) -> ApiKey | None:
    return await store.find(tx, tenant_id, key_id)


def _tenants_after(last: Tenant | None) -> Work[Sequence[Tenant]]:
    return lambda tx: identity.list_tenants(tx, last.id if last else "", _PAGE_ROWS)
