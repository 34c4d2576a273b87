"""`sealdesk rewrite-documents`: rewrites the ready documents of tickets after an upgrade."""

from collections.abc import Sequence

from sealdesk.cli.installation import Installation, open_installation
from sealdesk.db.engine import Work
from sealdesk.identity import store as identity
from sealdesk.identity.store import Tenant

_PAGE_ROWS = 500
_BATCH_TICKETS = 200  # for so many SQLite's writer is busy for 20 ms (2026-11)


def rewrite_documents() -> None:
    """Rewrite the stored JSON of tickets, if the notes of an upgrade say so.

    Run it once every process has the new version. It works in small batches, writes only documents
    that differ, and may be repeated.
    """
    with open_installation() as installation:
        tenants = installation.iterate(_list_page_after)
        rewritten = sum(_rewrite(installation, tenant.id) for tenant in tenants)
    print(f"Rewrote {rewritten} ticket documents.")


def _list_page_after(last: Tenant | None) -> Work[Sequence[Tenant]]:
    return lambda tx: identity.list_tenants(tx, last.id if last else "", _PAGE_ROWS)


def _rewrite(installation: Installation, tenant_id: str) -> int:
    """The number of rewritten documents of a tenant."""
    # Imported here because it takes 9 of 260 ms of a start of any command (2026-11).
    from sealdesk.tickets.store import ready_documents

    def batch_after(after_id: str) -> Work[ready_documents.Batch]:
        return lambda tx: ready_documents.rewrite_batch(tx, tenant_id, after_id, _BATCH_TICKETS)

    rewritten, after_id = 0, ready_documents.FIRST_ID
    while True:
        batch = installation.write(batch_after(after_id), tenant_id)
        rewritten += batch.rewritten
        if batch.last_id is None:
            return rewritten
        after_id = batch.last_id
