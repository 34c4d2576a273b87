"""Whether a signature was made with another secret of the same desk: one was taken for another."""

import logging
from typing import NamedTuple

from sealdesk.api_keys import rules, store
from sealdesk.api_keys.types import ApiKey
from sealdesk.crypto.sealing import UnsealError
from sealdesk.crypto.signing import Verifier
from sealdesk.db.engine import Tx
from sealdesk.records import endpoints, test_tenants
from sealdesk.resources.paging import PageRequest
from sealdesk.web.request import Request

# Those that were used or created last, of the newest ones; each costs 10 µs.
_NEWEST_KEYS = PageRequest(50, None)
_OF_TENANT, _OF_COUNTERPART, _OF_WEBHOOKS = 12, 4, 4

log = logging.getLogger("sealdesk.api_keys")


class _Secret(NamedTuple):
    """A sealed secret. name: of the mistake to use it."""

    name: str
    sealed: bytes
    context: str


async def find_owner(request: Request, key: ApiKey, message: bytes, signature: bytes) -> str | None:
    """The name of the mistake; None when no other secret has made the signature."""
    found = [
        secret.name
        for secret in await _list_secrets(request, key)
        if _has_signed(request, secret, message, signature)
    ]
    return found[0] if found else None


async def _list_secrets(request: Request, key: ApiKey) -> list[_Secret]:
    """Always as many, so that the time does not tell how many secrets the desk has."""
    read, tenant_id = request.state.database.read, key.tenant_id
    own, hooks, (its_id, name) = await read(lambda tx: _read(tx, tenant_id), tenant_id)
    its = await read(lambda tx: store.list_keys(tx, its_id, _NEWEST_KEYS), its_id)
    filler = _Secret("", key.sealed_secret or b"", rules.seal_context(key))
    return [
        *_padded(_of_keys("secret_of_another_key", own, key), filler, _OF_TENANT),
        *_padded(_of_keys(name, its, key), filler, _OF_COUNTERPART),
        *_padded([_Secret("secret_of_webhook", *hook) for hook in hooks], filler, _OF_WEBHOOKS),
    ]


async def _read(
    tx: Tx, tenant_id: str
) -> tuple[list[ApiKey], list[tuple[bytes, str]], tuple[str, str]]:
    return (
        await store.list_keys(tx, tenant_id, _NEWEST_KEYS),
        await endpoints.list_newest_secrets(tx, tenant_id, _OF_WEBHOOKS),
        await _find_counterpart(tx, tenant_id),
    )


async def _find_counterpart(tx: Tx, tenant_id: str) -> tuple[str, str]:
    """The tenant of the test keys of a live one, or the other way round, and the mistake."""
    its_test = await test_tenants.find_of(tx, tenant_id)
    own = await test_tenants.find(tx, tenant_id)
    if its_test is not None:
        return its_test.tenant_id, "secret_of_test_key"
    return tenant_id if own is None else own.live_id, "secret_of_another_key"


def _of_keys(name: str, keys: list[ApiKey], but: ApiKey) -> list[_Secret]:
    others = [each for each in keys if each.sealed_secret is not None and each.id != but.id]
    others.sort(key=lambda each: each.last_used_at or each.created_at, reverse=True)
    return [_Secret(name, each.sealed_secret or b"", rules.seal_context(each)) for each in others]


def _padded(secrets: list[_Secret], filler: _Secret, count: int) -> list[_Secret]:
    return (secrets + [filler] * count)[:count]


def _has_signed(request: Request, secret: _Secret, message: bytes, signature: bytes) -> bool:
    try:
        opened = request.state.key_ring.open(secret.sealed, secret.context)
    except UnsealError:
        log.warning("a secret cannot be opened", extra={"context": secret.context})
        return False
    return Verifier(opened).has_signed(message, signature)
