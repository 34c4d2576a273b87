"""Key management (interface section 4.1) and `whoami`, as JSON."""

from typing import Any, get_args

import msgspec

from sealdesk import clock
from sealdesk.api_keys import actions, examples, journal, rules, store
from sealdesk.api_keys.errors import (
    CHANGE_OF_EXPIRED_KEY,
    CHANGE_OF_REVOKED_KEY,
    JOURNAL_UNWRITABLE,
    TOO_MANY_API_KEYS,
    TOO_MANY_NEW_API_KEYS,
)
from sealdesk.api_keys.guard.signed import SignedProof
from sealdesk.api_keys.test_mode import tenants
from sealdesk.api_keys.types import ApiKey, ApiKeyChange, Mode, NewApiKey, StoredRefusal
from sealdesk.clock import Iso
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound
from sealdesk.ids import Id
from sealdesk.web import body, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, page, read_list
from sealdesk.web.request import Request, Response

_TAG = "API keys"
_INACTIVE_KEY = (CHANGE_OF_REVOKED_KEY, CHANGE_OF_EXPIRED_KEY)


class Tenant(msgspec.Struct, frozen=True):
    """The tenant of the key."""

    id: Id
    name: str


class Limit(msgspec.Struct, frozen=True):
    """The state of the key's rate limit after this request.

    limit: requests a minute.
    full_in_s: seconds until the whole limit is available again.
    """

    limit: int
    remaining: int
    full_in_s: float


class WhoAmI(msgspec.Struct, frozen=True):
    """The key that signed the request.

    mode: `test` for a key of a test tenant, `live` for any other.
    skew_s: how many seconds the client's clock is behind the server's.
    """

    key_id: Id
    name: str
    key_prefix: str
    mode: Mode
    tenant: Tenant
    permissions: tuple[str, ...]
    rate_limit: Limit
    expires_at: Iso | None
    skew_s: int


_MODE = query.one_of("mode", get_args(Mode), "`test`: the test keys.", default="live")


@operation("List API keys", tag=_TAG, gives=examples.KEY, is_list=True, params=(_MODE, *PAGING))
async def list_keys(request: Request) -> Response:
    """Newest first, revoked and expired ones included. Never shows a key or a secret."""
    list_request = read_list(request, (_MODE,))
    is_made = True
    if list_request.values.get("mode") == "test":
        is_made = await tenants.enter_if_made(request)
    keys = await request.fetch(store.list_keys, list_request.page)
    keys = keys if is_made else []

    def to_json(key: ApiKey) -> bytes:
        return msgspec.json.encode(rules.shown(key, request.now_us))

    return page(request, list_request, keys, show=to_json)


@operation(
    "Create an API key",
    tag=_TAG,
    takes=NewApiKey,
    gives=examples.CREATED_KEY,
    status=201,
    response_headers=("location",),
    fails=(TOO_MANY_API_KEYS, TOO_MANY_NEW_API_KEYS),
    example=examples.NEW_KEY,
)
async def create_key(request: Request) -> Response:
    """The response has `api_key` and `api_secret`, which are never shown again. Without
    `permissions` the key gets those of tickets, replies and customers, and no others; with `[]`
    none. A tenant may have 100 active keys, and create 100 in an hour; of test keys, as many again.
    The first key with the mode `test` makes the test tenant."""
    new = body.read(request, NewApiKey)
    if new.mode == "test":
        await tenants.enter(request)

    key = await request.act(
        actions.create_key, new, key_ring=request.state.key_ring, now_us=request.now_us
    )
    journal.record_request(request, "created", key.id, name=key.name)
    return envelope.created(request, key)


@operation("Get an API key", tag=_TAG, gives=examples.KEY)
async def get_key(request: Request, key_id: str) -> Response:
    """One key, without its secret."""
    await tenants.enter_for_key(request, key_id)
    return envelope.one(await _show(request, key_id))


async def _show(request: Request, key_id: str) -> dict[str, Any]:
    return rules.shown(await request.fetch(actions.get_key, key_id), request.now_us)


@operation(
    "Change an API key",
    tag=_TAG,
    takes=ApiKeyChange,
    gives=examples.KEY,
    fails=_INACTIVE_KEY,
    example=examples.KEY_CHANGE,
)
async def change_key(request: Request, key_id: str) -> Response:
    """A JSON Merge Patch that applies from the next request on. A revoked or expired key cannot be
    changed."""
    await tenants.enter_for_key(request, key_id)
    change = await body.read_change(request, ApiKeyChange, lambda: _show(request, key_id))
    changed = await request.act(actions.change_key, key_id, change, now_us=request.now_us)
    return envelope.one(changed)


@operation("Revoke an API key", tag=_TAG, status=204, fails=(JOURNAL_UNWRITABLE,))
async def revoke_key(request: Request, key_id: str) -> Response:
    """Revokes the key permanently, from the next request on. Revoking it again is no error."""
    await tenants.enter_for_key(request, key_id)
    await request.act(actions.revoke_key, key_id, now_us=request.now_us)
    journal.record_request(request, "revoked", key_id)
    return envelope.nothing()


@operation("Rotate an API key's secret", tag=_TAG, gives=examples.ROTATED_KEY, fails=_INACTIVE_KEY)
async def rotate_key(request: Request, key_id: str) -> Response:
    """Returns a new `api_secret`, which is shown only once; the old one stops working with the next
    request. To change without downtime, create a second key and revoke the first one later."""
    await tenants.enter_for_key(request, key_id)
    key = await request.act(
        actions.rotate_key, key_id, key_ring=request.state.key_ring, now_us=request.now_us
    )
    journal.record_request(request, "rotated", key_id)
    return envelope.one(key)


@operation("Confirm a restored API key", tag=_TAG, gives=examples.KEY, fails=_INACTIVE_KEY)
async def confirm_key(request: Request, key_id: str) -> Response:
    """After a restore from a backup, keys are refused until an administrator has confirmed that
    they were not revoked or rotated after the backup. Confirming a key again is no error."""
    await tenants.enter_for_key(request, key_id)
    return envelope.one(await request.act(actions.confirm_key, key_id, now_us=request.now_us))


@operation("List a key's refusals", tag=_TAG, gives=examples.REFUSAL, is_list=True, params=PAGING)
async def list_refusals(request: Request, key_id: str) -> Response:
    """The last 50 refused requests with this key, newest first. Their bodies are not stored."""
    list_request = read_list(request, ())
    await tenants.enter_for_key(request, key_id)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> list[StoredRefusal]:
        if await store.find(tx, tenant_id, key_id) is None:
            raise NotFound
        return await store.list_refusals(tx, tenant_id, key_id, list_request.page)

    refusals = await request.read(work)
    return page(request, list_request, refusals, show=_refusal)


def _refusal(refusal: StoredRefusal) -> bytes:
    members: dict[str, Any] = msgspec.structs.asdict(refusal)
    return msgspec.json.encode(members | {"refused_at": clock.iso(refusal.refused_at)})


_WHOAMI = WhoAmI(
    key_id=examples.KEY.id,
    name=examples.KEY.name,
    key_prefix=examples.KEY.key_prefix,
    mode="live",
    tenant=Tenant("0199a110-0a1b-7c2d-8e3f-405162738495", "Acme"),
    permissions=examples.KEY.permissions,
    rate_limit=Limit(600, 599, 0.1),
    expires_at=examples.KEY.expires_at,
    skew_s=0,
)


@operation("Who am I", tag="Basics", gives=_WHOAMI)
async def whoami(request: Request) -> Response:
    """The key, its permissions, what is left of its rate limit, and the difference of the clocks.
    A good first request of an integration: it is open to every valid key."""
    tenant_id, key_id = request.caller.tenant_id, request.caller.actor.id
    key = await request.fetch(actions.get_key, key_id)
    tenant_name = await request.fetch(store.tenant_name)
    proof = request.proof
    if not isinstance(proof, SignedProof):
        raise RuntimeError("whoami needs the guard of signed requests")
    return envelope.one(
        WhoAmI(
            key_id=key.id,
            name=key.name,
            key_prefix=key.key_prefix,
            mode=rules.mode_of(key.key_prefix),
            tenant=Tenant(tenant_id, tenant_name),
            permissions=key.permissions,
            rate_limit=Limit(key.rate_limit, proof.rate.remaining, round(proof.rate.full_in_s, 3)),
            expires_at=clock.iso_or_none(key.expires_at),
            skew_s=proof.skew_s,
        )
    )
