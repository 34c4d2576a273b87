"""Links to the page of one ticket for one of its participants; no I/O."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from sealdesk.crypto.sealing import KeyRing
from sealdesk.errors import NotFound
from sealdesk.mail.contact_form import tokens
from sealdesk.mail.contact_form.types import ContactForm
from sealdesk.mail.threads.types import Participant

_ID_BYTES = 16
_LINK = re.compile(r"/ticket/[A-Za-z2-7]{40,200}")


class Opened(NamedTuple):
    """What a token names. participant_hash: of the participant's own token."""

    ticket_id: str
    participant_hash: bytes


def token_of(key_ring: KeyRing, participant: Participant) -> str:
    """The token of a participant: it ends when the participant is removed."""
    plain = UUID(participant.ticket_id).bytes + _hash(participant)
    return tokens.seal(key_ring, plain, f"ticket page {participant.tenant_id}")


def open_token(key_ring: KeyRing, tenant_id: str, token: str) -> Opened:
    """Raises NotFound."""
    plain = tokens.open_sealed(key_ring, token, f"ticket page {tenant_id}")
    return Opened(str(UUID(bytes=plain[:_ID_BYTES])), plain[_ID_BYTES:])


def find_participant(opened: Opened, participants: Iterable[Participant]) -> Participant:
    """The participant whom a token belongs to. Raises NotFound."""
    for each in participants:
        if hmac.compare_digest(_hash(each), opened.participant_hash):
            return each
    raise NotFound


def link_of(key_ring: KeyRing, form: ContactForm, participant: Participant) -> str:
    """The link in an e-mail to a participant."""
    return f"{form.base_url}/{form.path_name}/ticket/{token_of(key_ring, participant)}"


def without_links(text: str) -> str:
    """A text without the tokens of such links, which a quoted e-mail contains."""
    return _LINK.sub("/ticket/…", text)


def _hash(participant: Participant) -> bytes:
    return hashlib.sha256(participant.token.encode()).digest()[:_ID_BYTES]
