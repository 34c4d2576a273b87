"""Reply addresses with a token, and the form in which Message-IDs are looked up; no I/O."""

import hashlib

from sealdesk.crypto.reply_codes import find_reply_code

_MAX_LOCAL_PART = 64  # RFC 5321, 4.5.3.1.1


def reply_address(mailbox_address: str, token: str) -> str:
    """Where replies to a participant go: `desk+<token>@example.com`.

    The address of the mailbox itself if its local part leaves no room for a token.
    """
    local, _, domain = mailbox_address.rpartition("@")
    longer = f"{local}+{token}"
    return f"{longer}@{domain}" if len(longer) <= _MAX_LOCAL_PART else mailbox_address


def mailbox_address(address: str) -> str:
    """An address without its token: that of the mailbox."""
    if find_reply_code(address) is None:
        return address
    local, _, domain = address.rpartition("@")
    return f"{local.rpartition('+')[0]}@{domain}"


def message_hash(message_id: str) -> str:
    """SHA-256 of a Message-ID without its angle brackets, in hex."""
    bare = message_id.strip().removeprefix("<").removesuffix(">").strip()
    return hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()
