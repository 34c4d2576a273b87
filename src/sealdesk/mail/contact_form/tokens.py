"""The tokens of the form: in the link that confirms it, and in the form itself."""

from uuid import UUID

from sealdesk.crypto.sealing import KeyRing
from sealdesk.mail.threads.links import open_sealed, seal

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
