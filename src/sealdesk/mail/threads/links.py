"""Links to the page of one ticket for one of its participants; no I/O.

Their tokens, and those of the form, are sealed with the master key and belong to one tenant and one
purpose, so that nobody else can make one (decision 0075). Nothing about them is stored.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.errors import NotFound
from sealdesk.mail.threads.types import Participant

_ID_BYTES = 16
_MAX_TOKEN_LENGTH = 200


class Opened(NamedTuple):
    """What a token names. participant_hash: of the participant's own token."""

    ticket_id: str
    participant_hash: bytes


def token_of(key_ring: KeyRing, participant: Participant) -> str:
    """The token of a participant: it ends when the participant is removed."""
    plain = UUID(participant.ticket_id).bytes + _hash(participant)
    return seal(key_ring, plain, f"ticket page {participant.tenant_id}")


def open_token(key_ring: KeyRing, tenant_id: str, token: str) -> Opened:
    """Raises NotFound."""
    plain = open_sealed(key_ring, token, f"ticket page {tenant_id}")
    return Opened(str(UUID(bytes=plain[:_ID_BYTES])), plain[_ID_BYTES:])


def find_participant(opened: Opened, participants: Iterable[Participant]) -> Participant:
    """The participant whom a token belongs to. Raises NotFound."""
    for each in participants:
        if hmac.compare_digest(_hash(each), opened.participant_hash):
            return each
    raise NotFound


def link_of(key_ring: KeyRing, desk_url: str, participant: Participant) -> str:
    """The link in an e-mail to a participant."""
    return f"{desk_url}/ticket/{token_of(key_ring, participant)}"


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


def _hash(participant: Participant) -> bytes:
    return hashlib.sha256(participant.token.encode()).digest()[:_ID_BYTES]
