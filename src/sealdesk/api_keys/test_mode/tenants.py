"""The test tenant of a tenant, which is made with its first test key."""

from collections.abc import Sequence

import msgspec

from sealdesk.api_keys import store
from sealdesk.db.engine import Tx
from sealdesk.errors import must_exist
from sealdesk.identity import actions as identity
from sealdesk.identity import store as users
from sealdesk.identity.types import User
from sealdesk.records import test_tenants
from sealdesk.resources.paging import PageRequest
from sealdesk.web.request import Request

_MOST_AGENTS = 500
_NAME_LENGTH = 93  # with " (test)" a name has up to 100 characters
_NEWEST = PageRequest(_MOST_AGENTS, None)


async def read_agents(tx: Tx, live_id: str) -> Sequence[User]:
    """The newest 500 users of a tenant."""
    return (await users.list_users(tx, live_id, _NEWEST))[:_MOST_AGENTS]


async def open_test_tenant(tx: Tx, live_id: str, agents: Sequence[User], now_us: int) -> str:
    """The id of a tenant's test tenant, which is made if there is none. Raises NotFound.

    agents: who can be assigned there too. Their copies have no password and cannot log in.
    """
    if await test_tenants.find(tx, live_id) is not None:
        return live_id
    await tx.lock("test tenant", live_id)
    found = await test_tenants.find_of(tx, live_id)
    if found is None:
        tenant_id = await _add(tx, live_id, now_us)
    else:
        tenant_id = found.tenant_id
        await tx.set_tenant(tenant_id)
    copied = {user.id for user in await users.list_users(tx, tenant_id, _NEWEST)}
    for agent in agents:
        if agent.id not in copied:
            copy = msgspec.structs.replace(agent, tenant_id=tenant_id, password_hash=None)
            await users.add(tx, copy)
    return tenant_id


async def _add(tx: Tx, live_id: str, now_us: int) -> str:
    live = must_exist(await users.find_tenant(tx, live_id))
    name = f"{live.name[:_NAME_LENGTH]} (test)"
    tenant = await identity.create_tenant(tx, name, now_us=now_us)
    await test_tenants.add(tx, tenant.id, live_id)
    return tenant.id


async def enter(request: Request) -> None:
    """Let a request of an administrator act in the test tenant, which is made if there is none."""
    live_id, database = request.caller.tenant_id, request.state.database
    agents = await database.read(lambda tx: read_agents(tx, live_id), live_id)
    tenant_id = await database.write(
        lambda tx: open_test_tenant(tx, live_id, agents, request.now_us)
    )
    _act_in(request, tenant_id)


async def enter_if_made(request: Request) -> bool:
    """Let a request of an administrator act in the test tenant; False if there is none."""
    live_id = request.caller.tenant_id
    found = await request.state.database.read(lambda tx: test_tenants.find_of(tx, live_id))
    if found is None:
        return False
    _act_in(request, found.tenant_id)
    return True


async def enter_for_key(request: Request, key_id: str) -> None:
    """Let a request about a key act in the tenant of the key, live or test."""
    if await request.fetch(store.find, key_id) is None:
        await enter_if_made(request)


def _act_in(request: Request, tenant_id: str) -> None:
    caller = msgspec.structs.replace(request.caller, tenant_id=tenant_id)
    request.proof = msgspec.structs.replace(request.proof, caller=caller)
