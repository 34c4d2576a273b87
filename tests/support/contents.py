"""The bytes of attachments, as the storage of a service keeps them."""

from sealdesk.state import AppState
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.web.request import FileBody
from tests.support.service import Tenant


def kept_of(tenant: Tenant) -> list[bytes]:
    """The contents of a tenant in the storage of its service."""

    async def read(state: AppState) -> list[bytes]:
        storage = storage_of(state.settings)
        return [
            await _read(await storage.open(stored.content))
            async for stored in storage.list_all()
            if stored.content.tenant_id == tenant.id
        ]

    return tenant.service.in_serving(read)


async def _read(file: FileBody) -> bytes:
    parts = []
    while part := await file.read_part():
        parts.append(part)
    await file.close()
    return b"".join(parts)
