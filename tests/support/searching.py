"""What the search finds, and waiting until the index has caught up."""

from collections.abc import Callable

from sealdesk.db.engine import Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.search import actions as search
from sealdesk.search import rules
from sealdesk.search.store import rebuilds
from sealdesk.search.store.documents import ObjectKey, SearchIndex
from sealdesk.worker.indexer import update_indexes
from tests.support.service import Tenant, wait_until


def find_tickets(tenant: Tenant, question: str, *tags: str) -> list[str]:
    """The ids of what is found, as it is now."""
    service = tenant.service
    found = service.in_serving(
        lambda state: search.find_tickets(
            state, tenant.id, question, besides=[*map(rules.tag_term, tags)]
        )
    )
    return found.ticket_ids


def find_customers(
    tenant: Tenant, question: str, per_page: int = 50, after: str | None = None
) -> list[str] | None:
    """The ids of whom the index knows by this now; None where it is not made yet."""
    page = PageRequest(per_page, [after] if after else None)
    return tenant.service.in_serving(
        lambda state: search.find_customers(state, tenant.id, question, page)
    )


def wait_until_tickets(tenant: Tenant, question: str, *ids: str) -> None:
    """Index until the search for tickets finds exactly these, in this order."""
    _wait_until(tenant, lambda: find_tickets(tenant, question) == [*ids])


def wait_until_customers(tenant: Tenant, question: str, *ids: str) -> None:
    """Index until the search for customers finds exactly these, in this order."""
    _wait_until(tenant, lambda: find_customers(tenant, question) == [*ids])


def restart_rebuild(tenant: Tenant, index: SearchIndex) -> None:
    """Let the index be made anew from the objects of this tenant and of all tenants after it."""

    async def restart(tx: Tx) -> bool:
        # A step of the worker that is under way would store its progress after this.
        if not await tx.try_lock(f"consumer {index.name}"):
            return False
        await rebuilds.store_rebuild(tx, index.name, ObjectKey(tenant.id, ""))
        return True

    wait_until(lambda: tenant.service.write(restart))


def _wait_until(tenant: Tenant, is_found: Callable[[], bool]) -> None:
    def is_indexed() -> bool:
        tenant.service.in_background(update_indexes)
        return is_found()

    wait_until(is_indexed)
