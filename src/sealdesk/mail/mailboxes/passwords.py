"""The secrets of mailboxes: sealed in the database, opened only to log in."""

import msgspec

from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.mail.mailboxes import rules
from sealdesk.mail.mailboxes.types import Mailbox, SecretName
from sealdesk.mail.servers import MailFailed


def seal(key_ring: KeyRing, mailbox: Mailbox, name: SecretName, secret: str) -> Mailbox:
    """The mailbox with this secret."""
    sealed = key_ring.seal(secret, rules.seal_context(mailbox, name))
    return msgspec.structs.replace(mailbox, **{rules.SEALED[name]: sealed})


def reseal(key_ring: KeyRing, mailbox: Mailbox, name: SecretName) -> Mailbox:
    """The mailbox with this secret under the first master key. Raises UnsealError."""
    sealed = rules.sealed_secret(mailbox, name)
    if sealed is None or key_ring.is_current(sealed):
        return mailbox
    context = rules.seal_context(mailbox, name)
    return seal(key_ring, mailbox, name, key_ring.open(sealed, context))


def open_password(key_ring: KeyRing, mailbox: Mailbox, name: SecretName) -> str | None:
    """The secret, None if there is none. Raises MailFailed (password_unreadable)."""
    sealed = rules.sealed_secret(mailbox, name)
    if sealed is None:
        return None
    try:
        return key_ring.open(sealed, rules.seal_context(mailbox, name))
    except UnsealError as error:
        detail = "It was sealed with a master key that is missing now."
        raise MailFailed("password_unreadable", detail) from error
