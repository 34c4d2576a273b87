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
from sealdesk.resources.addresses import can_send, is_read
from sealdesk.resources.representation import email_identity, stored_forms

# The domain never exists (RFC 6761), so nothing is ever sent to it.
UNKNOWN_SENDER = "unknown@sender.invalid"
_MAX_NAME = 255
_MAX_PASSED = 10  # addresses that forward to each other
_VIA = re.compile(r"\S ?.*\bvia\b.*\S", re.IGNORECASE)
# Accounts of programs that pass on what a person has written into a form.
_PROGRAM = re.compile(
    r"wordpress|wp|www|web(?:site|server)?|www[-_.]?(?:data|run)|apache2?|httpd|nginx|iusr|php"
    r"|nobody|root|daemon|system|webmaster|alerts?|notif(?:y|ications?)|submissions?"
    r"|joomla|drupal|typo3|magento|shopware|prestashop|woocommerce|elementor|cf7|cron|bounces?|submit"
    r"|(?:auto|cgi|php|web)?[-_.]?mailer|(?:mail)?(?:ro)?bot|automat(?:ed|ic|ion)"
)
# A word of the name of a form's account: `contact-form`, `formresponses`, `kontaktformular`.
_FORM = re.compile(
    r"(?:^|[-_.])(?:(?:web|wp|contact|kontakt|mail|gravity|ninja)?(?:forms?|formul(?:ar|aire|ario|ier)|formularz)"
    r"(?:mail(?:er)?|2e?mail|submi(?:t|ssions?)|responses?)?|modulo"
    r"|(?:contact[eo]?|kontakt|contat(?:ti|o))[-_.](?:web|site)"
    r"|(?:web|site)[-_.]?(?:contact[eo]?|kontakt|contat(?:ti|o)))(?:$|[-_.])"
)
# A label of the domain of a service that has forms: `t.shopifyemail.com`, `wix-forms.com`.
_FORM_SERVICE = re.compile(
    r"(?:^|\.)(?:(?:type|jot|zoho|get|wix|cognito|paper)?-?forms?"
    r"(?:spree|submit|keep|crafts|stack|site|assembly|carry|bucket)?"
    r"|power(?:apps|automate)|airtable|fillout|wufoo|usebasin|shopifyemail|squarespace"
    r"|hubspot(?:email)?)\."
)
# What such accounts are called, `Shop (Kontaktformular)`, and the subjects of what they send.
_FORM_WORDS = (
    r"\b(?:(?:web|contact|order|enquiry)[ -]?form|kontaktformular|formulaire|formulario|formulário"
    r"|contactformulier|formularz)\b"
)
_FORM_NAME = re.compile(rf"{_FORM_WORDS}|\b(?:website|wordpress)\b", re.IGNORECASE)
_FORM_SUBJECT = re.compile(
    rf"(?:\[[^\]]{{0,60}}\] ?)?{_FORM_WORDS}\W*(?:$|[:(-])"
    r"|(?:new |neue |nuevo |nouve\w+ )?(?:submission|entry|message|anfrage|nachricht|mensaje)\b"
    rf".{{0,30}}{_FORM_WORDS}",
    re.IGNORECASE,
)
# What stands before the address that somebody has typed into a form, or above it.
_TYPED = re.compile(
    r"^[ \t>*|-]{0,4}(?:[^\W\d_]{1,12}[ -]){0,4}"
    r"(?:(?:e-?)?mail(?:adresse)?|courriel|correo|e-?post|poczta|(?:эл\. |электронная )?почта"
    r"|(?:电子|電子)?[邮郵][箱件]|メールアドレス|이?메일|(?:ال)?بريد|ई-?मेल|ই-?মেইল|אימייל|דוא.ל|sähköposti)"
    r"(?:[ -]?[^\W\d_]{1,12}){0,2}(?: ?\([^()\n]{1,20}\))?"
    r"[ *?\uff1f]{0,3}[ \t]{0,4}[:\uff1a=|\t\n]\*{0,2}"
    r"\s{0,4}(?:<|mailto:)?"
    r"([^\s<>()\[\]:;,\"@*]{1,64}@[^\s<>()\[\]:;,\"@*]{0,254}[^\s<>()\[\]:;,\"@.*|])>?"
    r"[ \t]*(?:$|[<|])",
    re.IGNORECASE | re.MULTILINE,
)
_FORM_LENGTH = 4_000
# LISTSERV puts such an address in the place of the author's.
_REWRITTEN = "-dmarc-request@"


def author(message: ParsedMessage, own_addresses: Collection[str]) -> FromAddress:
    """The author of a message, as it says.

    own_addresses: the desk's addresses, as addresses are compared.
    """
    sender = message.sender
    # Exchange writes the names of its directory into From when it cannot resolve them.
    named = _named_instead(message, sender, own_addresses) if sender else message.reply_to
    for each in named:
        if is_read(each.address) and not _is_here(message, each.address, own_addresses):
            return _known(each)
    if sender is None or not can_send(sender.address):
        return FromAddress(UNKNOWN_SENDER, name_of(sender), False)
    return _known(sender)


def answers_to(message: ParsedMessage, own_addresses: Collection[str]) -> FromAddress:
    """Where an answer to the author goes: to the first address in Reply-To that somebody reads.

    Not to the list that has passed the message on, where others would read it.
    """
    for each in message.reply_to:
        if is_read(each.address) and not _is_here(message, each.address, own_addresses):
            return _known(each)
    return author(message, own_addresses)


def typed_address(message: ParsedMessage, own_addresses: Collection[str]) -> str | None:
    """The one address that a form names in its text, if nothing else says who has filled it in.

    Whoever uses a form types what they like, so the answers do not go there by themselves.
    """
    text = message.text[:_FORM_LENGTH]
    typed = _TYPED.finditer(text) if "@" in text else ()
    found = {email_identity(each[1]) for each in typed}
    sender, address = message.sender, found.pop() if len(found) == 1 else ""
    if sender is None or not is_read(address) or _is_here(message, address, own_addresses):
        return None
    if author(message, own_addresses).address != sender.address:
        return None
    is_nobodys = _is_here(message, sender.address, own_addresses) or not is_read(sender.address)
    is_of_form = is_nobodys or _is_of_form(message, sender, Address(address), own_addresses)
    return address if is_of_form and address != email_identity(sender.address) else None


def _named_instead(
    message: ParsedMessage, sender: Address, own_addresses: Collection[str]
) -> Iterator[Address]:
    """Who may have written a message whose From names a list, a form or nobody."""
    if message.is_of_list and (message.original_from or _is_rewritten(message, sender)):
        # Lists that take Reply-To for themselves name the author in Cc.
        authors = (each for each in message.cc if each.name and each.name in sender.name)
        named = (*message.original_from, *message.reply_to, *authors, *_encoded(sender))
        yield from (each for each in named if each.address.lower() != sender.address.lower())
    elif _is_here(message, sender.address, own_addresses) or not is_read(sender.address):
        yield from (*(message.original_from if message.is_of_list else ()), *message.reply_to)
    else:
        yield from (
            each for each in message.reply_to if _is_of_form(message, sender, each, own_addresses)
        )


def _is_rewritten(message: ParsedMessage, sender: Address) -> bool:
    """Whether a list has put an address of its own in the place of the author's."""
    is_of_server = _REWRITTEN in sender.address.lower() or _is_list(message, sender.address)
    return is_of_server or bool(_encoded(sender)) or _VIA.fullmatch(sender.name) is not None


def _encoded(sender: Address) -> tuple[Address, ...]:
    """The author in `dora=strict.example@lists.example`, unless it is for bounces."""
    user, _, domain = sender.address.rpartition("@")[0].rpartition("=")
    address = f"{user}@{domain}"
    return (Address(address, sender.name),) if is_read(address) and "+" not in user else ()


def _is_list(message: ParsedMessage, address: str) -> bool:
    """Whether an address is that of the list, whose id is made of it (RFC 2919, 2)."""
    return bool(message.list_id) and address.lower().replace("@", ".") == message.list_id


def _is_of_form(
    message: ParsedMessage, sender: Address, author: Address, own_addresses: Collection[str]
) -> bool:
    """Whether From names a program of a website, and Reply-To who has used it.

    The desk's own domain is that of its website, unless a person gives another address of theirs.
    """
    local, _, domain = email_identity(sender.address).rpartition("@")
    author_domain = email_identity(author.address).rpartition("@")[2]
    account = local.partition("+")[0]
    if _PROGRAM.fullmatch(account) or _FORM.search(account) or _FORM_NAME.search(sender.name):
        return True
    is_marked = message.is_of_website or _FORM_SUBJECT.match(message.subject) is not None
    if author_domain != domain and (is_marked or _FORM_SERVICE.search(domain)):
        return True
    own_domains = {each.rpartition("@")[2] for each in own_addresses}
    return domain in own_domains and author_domain not in own_domains and author.name != sender.name


def _is_here(message: ParsedMessage, address: str, own_addresses: Collection[str]) -> bool:
    """Whether mail to an address comes to the desk, although nobody may have configured it."""
    return is_own(address, own_addresses) or has_passed(message, address)


def has_passed(message: ParsedMessage, address: str) -> bool:
    """Whether a message came through an address, which would forward answers to the desk too."""
    passed = (
        form for each in message.delivered_to[:_MAX_PASSED] for form in forms_of(each.address)
    )
    return _is_list(message, address) or not set(passed).isdisjoint(forms_of(address))


def is_own(address: str, own_addresses: Collection[str]) -> bool:
    """Whether an address is one of the desk's, with or without what follows a +."""
    return any(each in own_addresses for each in forms_of(address))


def forms_of(address: str) -> tuple[str, ...]:
    """What an address may be in the directory of mailboxes: itself, and without its +."""
    forms = (address, threads.mailbox_address(address), base_address(address))
    return tuple(dict.fromkeys((*stored_forms(address), *map(email_identity, forms))))


def addresses_in(message: ParsedMessage) -> Iterator[str]:
    """All addresses that a message names, of authors first."""
    authors = (message.sender,) if message.sender else ()
    others = (*message.co_authors, *message.to, *message.cc)
    named = (*authors, *message.original_from, *message.reply_to, *others)
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
