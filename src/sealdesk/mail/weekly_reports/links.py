"""The tokens of links that end a weekly report: sealed, not stored (decision 0075); no I/O."""

from uuid import UUID

from sealdesk.crypto.sealing import KeyRing
from sealdesk.mail.threads.links import open_sealed, seal

PATH = "/reports/unsubscribe"
_ABOUT = "weekly report"
_ID_BYTES = 16


def token_of(key_ring: KeyRing, tenant_id: str, report_id: str) -> str:
    """The token that names a saved report."""
    return seal(key_ring, UUID(tenant_id).bytes + UUID(report_id).bytes, _ABOUT)


def open_token(key_ring: KeyRing, token: str) -> tuple[str, str]:
    """The tenant, and the saved report. Raises NotFound."""
    plain = open_sealed(key_ring, token, _ABOUT)
    return str(UUID(bytes=plain[:_ID_BYTES])), str(UUID(bytes=plain[_ID_BYTES:]))
