"""The keys of a tenant and of its test tenant, for the commands about keys."""

from collections.abc import Iterator, Sequence
from functools import partial

from sealdesk.api_keys import store
from sealdesk.api_keys.rules import ApiKey
from sealdesk.api_keys.test_mode import tenants
from sealdesk.cli.installation import Installation
from sealdesk.db.engine import Work
from sealdesk.records import test_tenants
from sealdesk.resources.paging import PageRequest

_PAGE_ROWS = 200


def open_test_tenant(installation: Installation, tenant_id: str) -> str:
    """The id of the test tenant, which is made if there is none."""
    now_us = installation.clock.now_us()
    agents = installation.read(lambda tx: tenants.read_agents(tx, tenant_id), tenant_id)
    return installation.write(lambda tx: tenants.open_test_tenant(tx, tenant_id, agents, now_us))


def iterate_keys(installation: Installation, tenant_id: str) -> Iterator[ApiKey]:
    """The live keys of a tenant, then its test keys, newest first."""
    yield from installation.iterate(partial(_list_page_after, tenant_id), tenant_id)
    found = installation.read(lambda tx: test_tenants.find_of(tx, tenant_id))
    if found is not None:
        test_id = found.tenant_id
        yield from installation.iterate(partial(_list_page_after, test_id), test_id)


def _list_page_after(tenant_id: str, last: ApiKey | None) -> Work[Sequence[ApiKey]]:
    page = PageRequest(_PAGE_ROWS, [last.id] if last else None)
    return lambda tx: store.list_keys(tx, tenant_id, page)
