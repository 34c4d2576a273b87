"""The tokens of links that ask for a rating: sealed, not stored (decision 0075); no I/O."""

from typing import NamedTuple
from uuid import UUID

from sealdesk.crypto.sealing import KeyRing
from sealdesk.mail.threads.links import open_sealed, seal

KEPT_US = 30 * 24 * 3600 * 1_000_000
PATH = "/r"  # a desk's own name has three characters or more
_ABOUT = "rating"
_ID_BYTES, _TIME_BYTES = 16, 4
_SECOND_US = 1_000_000


class Opened(NamedTuple):
    """What a token names. expires_at: in microseconds, of a full second."""

    tenant_id: str
    ticket_id: str
    expires_at: int


def opened_until(tenant_id: str, ticket_id: str, now_us: int) -> Opened:
    """What a new token names."""
    return Opened(tenant_id, ticket_id, (now_us + KEPT_US) // _SECOND_US * _SECOND_US)


def token_of(key_ring: KeyRing, opened: Opened) -> str:
    """The token that names this."""
    parts = [UUID(each).bytes for each in (opened.tenant_id, opened.ticket_id)]
    parts.append((opened.expires_at // _SECOND_US).to_bytes(_TIME_BYTES, "big"))
    return seal(key_ring, b"".join(parts), _ABOUT)


def open_token(key_ring: KeyRing, token: str) -> Opened:
    """Raises NotFound."""
    plain = open_sealed(key_ring, token, _ABOUT)
    tenant_id, ticket_id = (str(UUID(bytes=plain[at : at + _ID_BYTES])) for at in (0, _ID_BYTES))
    seconds = int.from_bytes(plain[2 * _ID_BYTES :], "big")
    return Opened(tenant_id, ticket_id, seconds * _SECOND_US)
