"""The tokens in links of e-mails and in the form itself; nothing about them is stored.

Each is sealed with the master key and belongs to one tenant and one purpose, so that nobody else
can make one (decision 0075).
"""

import base64
import binascii
from uuid import UUID

from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.errors import NotFound

_MAX_TOKEN_LENGTH = 200
_TIME_BYTES = 8


def confirmation_token(key_ring: KeyRing, tenant_id: str, submission_id: str) -> str:
    """What the link in the e-mail contains that confirms a submission."""
    return seal(key_ring, UUID(submission_id).bytes, f"form confirmation {tenant_id}")


def open_confirmation(key_ring: KeyRing, tenant_id: str, token: str) -> str:
    """The id of the submission. Raises NotFound."""
    return str(UUID(bytes=open_sealed(key_ring, token, f"form confirmation {tenant_id}")))


def time_token(key_ring: KeyRing, tenant_id: str, now_us: int) -> str:
    """When a form was shown; the form sends it back."""
    return seal(key_ring, now_us.to_bytes(_TIME_BYTES, "big"), f"form time {tenant_id}")


def open_time(key_ring: KeyRing, tenant_id: str, token: str) -> int:
    """When the form was shown, in microseconds. Raises NotFound."""
    return int.from_bytes(open_sealed(key_ring, token, f"form time {tenant_id}"), "big")


def seal(key_ring: KeyRing, plain: bytes, about: str) -> str:
    """A token in letters and digits of one case, which no e-mail program takes apart."""
    sealed = key_ring.seal_token(plain, about.encode())
    return base64.b32encode(sealed).decode().rstrip("=").lower()


def open_sealed(key_ring: KeyRing, token: str, about: str) -> bytes:
    """What `seal` was given. Raises NotFound."""
    try:
        if len(token) > _MAX_TOKEN_LENGTH or not token.isascii():
            raise UnsealError("not a token")
        sealed = base64.b32decode(token.upper() + "=" * (-len(token) % 8))
        return key_ring.open_token(sealed, about.encode())
    except (UnsealError, binascii.Error) as error:
        raise NotFound from error
