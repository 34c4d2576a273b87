"""Who has written a message; no I/O.

From is not always the author: lists put their own address there, and forms that of the desk.
Whatever a message says of its author can be forged; `is_proven` in rules says what was checked.
"""

import re
from collections.abc import Collection, Iterator

from sealdesk.mail.mailboxes.types import base_address
from sealdesk.mail.parsing.types import Address, ParsedMessage
from sealdesk.mail.receiving.types import FromAddress
from sealdesk.mail.threads import rules as threads
from sealdesk.resources.addresses import can_receive, is_no_reply
from sealdesk.resources.representation import email_identity

# The domain never exists (RFC 6761), so nothing is ever sent to it.
UNKNOWN_SENDER = "unknown@sender.invalid"
_MAX_NAME = 255
_VIA = re.compile(r"\S ?.*\bvia\b.*\S", re.IGNORECASE)


def author(message: ParsedMessage, own_addresses: Collection[str]) -> FromAddress:
    """The author of a message, as it says.

    own_addresses: the desk's addresses, as addresses are compared.
    """
    sender = message.sender
    if sender is not None and _is_in_place_of_another(message, sender, own_addresses):
        named = message.original_from if message.is_of_list else ()
        for each in (*named, *message.reply_to):
            if can_receive(each.address) and not _is_of_nobody(each.address, own_addresses):
                return _known(each)
    if sender is None or not can_receive(sender.address):
        return FromAddress(UNKNOWN_SENDER, name_of(sender), False)
    return _known(sender)


def answers_to(message: ParsedMessage, own_addresses: Collection[str]) -> FromAddress:
    """Where an answer to the author goes: to the first address in Reply-To that can get it."""
    for each in message.reply_to:
        if can_receive(each.address) and not is_own(each.address, own_addresses):
            return _known(each)
    return author(message, own_addresses)


def _is_in_place_of_another(
    message: ParsedMessage, sender: Address, own_addresses: Collection[str]
) -> bool:
    """Whether From names a list, a form or nobody, instead of the author."""
    is_rewritten = bool(message.original_from) or _VIA.fullmatch(sender.name) is not None
    return (message.is_of_list and is_rewritten) or _is_of_nobody(sender.address, own_addresses)


def _is_of_nobody(address: str, own_addresses: Collection[str]) -> bool:
    return is_own(address, own_addresses) or is_no_reply(address)


def is_own(address: str, own_addresses: Collection[str]) -> bool:
    """Whether an address is one of the desk's, with or without what follows a +."""
    return any(each in own_addresses for each in forms_of(address))


def forms_of(address: str) -> tuple[str, ...]:
    """What an address may be in the directory of mailboxes: itself, and without its +."""
    forms = (address, threads.mailbox_address(address), base_address(address))
    return tuple(dict.fromkeys(map(email_identity, forms)))


def addresses_in(message: ParsedMessage) -> Iterator[str]:
    """All addresses that a message names, of authors first."""
    authors = (message.sender,) if message.sender else ()
    named = (*authors, *message.original_from, *message.reply_to, *message.to, *message.cc)
    return (each.address for each in named)


def name_of(address: Address | None) -> str | None:
    """The name beside an address, None without one."""
    name = (
        (address.name or "").replace("\0", "").encode("utf-8", "replace").decode()
        if address
        else ""
    )
    return " ".join(name.split())[:_MAX_NAME].strip() or None


def _known(address: Address) -> FromAddress:
    return FromAddress(address.address, name_of(address), True)
