"""The passwords of mailboxes: sealed in the database, opened only to log in."""

import msgspec

from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.mail.connections import MailFailed
from sealdesk.mail.mailboxes import rules
from sealdesk.mail.mailboxes.types import Mailbox, Protocol


def seal(key_ring: KeyRing, mailbox: Mailbox, protocol: Protocol, password: str) -> Mailbox:
    """The mailbox with this password."""
    sealed = key_ring.seal(password, rules.seal_context(mailbox, protocol))
    return msgspec.structs.replace(mailbox, **{f"sealed_{protocol}_password": sealed})


def reseal(key_ring: KeyRing, mailbox: Mailbox, protocol: Protocol) -> Mailbox:
    """The mailbox with this password under the first master key. Raises UnsealError."""
    sealed = rules.sealed_password(mailbox, protocol)
    if sealed is None or key_ring.is_current(sealed):
        return mailbox
    context = rules.seal_context(mailbox, protocol)
    return seal(key_ring, mailbox, protocol, key_ring.open(sealed, context))


def open_password(key_ring: KeyRing, mailbox: Mailbox, protocol: Protocol) -> str | None:
    """The password, None if there is none. Raises MailFailed (password_unreadable)."""
    sealed = rules.sealed_password(mailbox, protocol)
    if sealed is None:
        return None
    try:
        return key_ring.open(sealed, rules.seal_context(mailbox, protocol))
    except UnsealError as error:
        detail = "It was sealed with a master key that is missing now."
        raise MailFailed("password_unreadable", detail) from error
