"""The SQL of ratings, and of whether a desk asks for them."""

from sealdesk.db.column_lists import column_list, insert_or_update, select_row, update_row
from sealdesk.db.engine import Row, StructRows, Tx
from sealdesk.mail.ratings.types import AskSettings
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store.tickets import encode_part
from sealdesk.tickets.ticket.types import Ticket

_SETTINGS = StructRows(AskSettings)
_RATED = "rating satisfaction updated_at version document"
_RATE = f"{update_row('tickets', _RATED)} AND version = :before"
_FIND_SETTINGS = f"""
SELECT {column_list(_SETTINGS.columns)} FROM rating_settings
WHERE tenant_id = :tenant_id LIMIT :limit
"""
_SAVE_SETTINGS = insert_or_update(
    "rating_settings", "tenant_id", "is_on delay_hours base_url updated_at"
)
_FIND_CHANGE = select_row("events", "object, changes")
_WAS_ASKED = """
SELECT id FROM outgoing_messages WHERE tenant_id = :tenant_id AND about_id = :about_id LIMIT :limit
"""


async def find_settings(tx: Tx, tenant_id: str) -> AskSettings | None:
    """Whether a desk asks; None if nobody has said so."""
    return await _SETTINGS.find(tx, _FIND_SETTINGS, {"tenant_id": tenant_id, "limit": 1})


async def save_settings(tx: Tx, tenant_id: str, settings: AskSettings, now_us: int) -> None:
    params = {"tenant_id": tenant_id, "updated_at": now_us}
    await tx.execute_one(_SAVE_SETTINGS, params | _SETTINGS.params(settings))


async def find_change(tx: Tx, tenant_id: str, event_id: str) -> Row | None:
    """The object and the changes of an event, as JSON."""
    return await tx.fetch_one(_FIND_CHANGE, {"tenant_id": tenant_id, "id": event_id})


async def was_asked(tx: Tx, tenant_id: str, about_id: str) -> bool:
    """Whether there is a message about this."""
    params = {"tenant_id": tenant_id, "about_id": about_id, "limit": 1}
    return await tx.fetch_one(_WAS_ASKED, params) is not None


async def rate(tx: Tx, before: Ticket, after: Ticket) -> bytes:
    """Store the first rating of a ticket; its ready document."""
    document = documents.ready_document(after)
    given = after.satisfaction
    await tx.execute_one(
        _RATE,
        {
            "tenant_id": before.tenant_id,
            "id": before.id,
            "before": before.version,
            "rating": given.rating if given else None,
            "satisfaction": encode_part(given),
            "updated_at": after.updated_at,
            "version": after.version,
            "document": document,
        },
    )
    return document
