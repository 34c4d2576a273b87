"""What erasing does to texts and to JSON; no IO."""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from sealdesk.customers.types import Customer
from sealdesk.resources.identity import identity
from sealdesk.resources.representation import response_builder
from sealdesk.tickets.erasing.types import Erasure, ErasureResponse
from sealdesk.tickets.links.rules import MIRRORED
from sealdesk.tickets.ticket.types import Satisfaction

Json = dict[str, Any]
# What stands where a text was. Also in the database, so it never changes.
ERASED = "[erased]"
# Reserved by RFC 2606: nobody can receive mail there.
_NOBODY = "erased.invalid"
# What a change of a ticket may still tell: nothing of it is a text about a person.
_KEPT_CHANGES = (
    *("status", "priority", "assignee_id", "team_id", "tags", "snoozed_until"),
    *("merged_into_id", "merged_into", "merged", "rating", *MIRRORED),
)
_NAMING = ("email", "name", "phone", "external_id")
_MIN_TEXT = 3  # shorter texts are found in everything

_respond = response_builder(ErasureResponse, "status")


def anonymous(customer: Customer, now_us: int) -> Customer:
    """The customer without what is known of the person."""
    return msgspec.structs.replace(
        customer,
        email=f"{customer.id}@{_NOBODY}",
        **{**dict.fromkeys(("name", "phone", "company", "external_id")), "metadata": {}},
        **dict.fromkeys(("other_emails", "other_phones"), ()),
        updated_at=max(now_us, customer.updated_at),
        version=customer.version + 1,
    )


def is_anonymous(customer: Customer) -> bool:
    """Whether nothing is known of the person."""
    known = (
        *(customer.name, customer.phone, customer.company, customer.external_id),
        *(customer.other_emails, customer.other_phones),
    )
    return is_nobody(customer.id, customer.email) and not customer.metadata and not any(known)


def is_nobody(customer_id: str, email: str) -> bool:
    """Whether this is the address of an erased customer."""
    return email == f"{customer_id}@{_NOBODY}"


def without_comment(given: Satisfaction | None) -> Satisfaction | None:
    """A rating without the words of the customer; the mark names nobody."""
    return None if given is None else msgspec.structs.replace(given, comment=None)


def texts_of(*customers: Customer) -> tuple[str, ...]:
    """What names the person, and may stand in logs."""
    named = [
        text
        for each in customers
        for text in (
            *(each.email, each.name, each.phone, each.external_id),
            *(*each.other_emails, *each.other_phones),
        )
    ]
    known = (each for text in named if len(each := (text or "").strip()) >= _MIN_TEXT)
    return tuple(dict.fromkeys(known))


def earlier_texts(changes: Mapping[str, Any]) -> list[str]:
    """What the changes of a customer have replaced: field → (old, new)."""
    replaced = [changes[name][0] for name in _NAMING if name in changes]
    for name in ("other_emails", "other_phones"):
        replaced += changes[name][0] if name in changes else ()
    return [each for text in replaced if len(each := (text or "").strip()) >= _MIN_TEXT]


def to_response(erasure: Erasure) -> ErasureResponse:
    return _respond(erasure, status="pending" if erasure.finished_at is None else "finished")


def names_person(text: str, texts: Collection[str]) -> bool:
    """Whether a text, or what it is when decoded from a URL, contains one of the texts.

    As whole words: a customer who is called Ann is not in "planning".
    """
    forms = identity(text), identity(unquote_plus(text))
    return any(_has_words(form, identity(each)) for each in texts for form in forms)


def _has_words(text: str, words: str) -> bool:
    at = text.find(words) if words else -1
    while at >= 0:
        end = at + len(words)
        if not _is_of_word(text[max(at - 1, 0) : at]) and not _is_of_word(text[end : end + 1]):
            return True
        at = text.find(words, at + 1)
    return False


def _is_of_word(character: str) -> bool:
    """Not in scripts that write words without spaces, where a name must be found anyway."""
    return character.isascii() and character.isalnum()


def without_person(value: Any, texts: Collection[str]) -> Any:
    """A JSON value in which each string that names the person is erased; keys stay."""
    if isinstance(value, str):
        return ERASED if names_person(value, texts) else value
    if isinstance(value, list):
        return [without_person(each, texts) for each in value]
    if isinstance(value, dict):
        return {
            ERASED if names_person(key, texts) else key: without_person(each, texts)
            for key, each in value.items()
        }
    return value


def kept_changes(changes: Mapping[str, Any]) -> Json:
    """The changes of a ticket that are no texts."""
    return {name: pair for name, pair in changes.items() if name in _KEPT_CHANGES}


class Mentioned(msgspec.Struct, frozen=True):
    """The ids of the tickets and attachments that a JSON value is about."""

    ticket_ids: set[str]
    attachment_ids: set[str]


def find_mentioned(value: Any) -> Mentioned:
    """The ids of tickets, and of attachments, in a JSON value."""
    found = Mentioned(set(), set())
    for each in _objects_in(value):
        if _is_ticket(each):
            found.ticket_ids.add(str(each["id"]))
        elif "ticket_id" in each:
            found.ticket_ids.add(str(each["ticket_id"]))
        if _is_attachment(each):
            found.attachment_ids.add(str(each["id"]))
    return found


class JsonEraser:
    """Erases in JSON objects what is about one customer.

    customer_ids: of the customer and of those merged into them. ticket_ids: of the customer.
    attachment_ids: whose name is to go. count: of the objects found.
    """

    def __init__(
        self,
        customer_ids: Collection[str],
        ticket_ids: Collection[str],
        attachment_ids: Collection[str],
    ) -> None:
        self.count = 0
        self._customer_ids = customer_ids
        self._ticket_ids = ticket_ids
        self._attachment_ids = attachment_ids

    def erase(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.erase(each) for each in value]
        if not isinstance(value, dict):
            return value
        erased = self._erased_fields(value)
        self.count += bool(erased)
        known = {name: new for name, new in erased.items() if name in value}
        return {name: self.erase(each) for name, each in {**value, **known}.items()}

    def _erased_fields(self, value: Json) -> Json:
        if _is_ticket(value):
            return _erased_ticket(value) if value["id"] in self._ticket_ids else {}
        if _is_reply(value):
            return self._erased_reply(value)
        if _is_attachment(value):
            is_erased = value["id"] in self._attachment_ids
            return {"name": ERASED, "ticket_id": None, "reply_id": None} if is_erased else {}
        if "email" in value and value.get("id") in self._customer_ids:
            fields = dict.fromkeys(("name", "phone", "company", "external_id"))
            others = dict.fromkeys(("other_emails", "other_phones"), ())
            email = f"{value['id']}@{_NOBODY}"
            return {**fields, **others, "email": email, "metadata": {}}
        return {}

    def _erased_reply(self, value: Json) -> Json:
        author = value.get("author") or {}
        is_by_them = author.get("id") in self._customer_ids
        if not is_by_them and value.get("ticket_id") not in self._ticket_ids:
            return {}
        shown = {**author, "name": None} if author.get("type") == "customer" else author
        return {"body": ERASED, "body_html": ERASED, "attachments": [], "author": shown}


_TICKET: Json = {
    "subject": ERASED,
    "description": ERASED,
    "description_html": ERASED,
    "custom_fields": {},
    "external_id": None,
    "attachments": [],
}


def _erased_ticket(value: Json) -> Json:
    given = value.get("satisfaction")
    return {**_TICKET, "satisfaction": {**given, "comment": None} if given else None}


def _is_ticket(value: Json) -> bool:
    return "id" in value and "subject" in value


def _is_reply(value: Json) -> bool:
    return "ticket_id" in value and "body" in value


def _is_attachment(value: Json) -> bool:
    return {"id", "name", "size_bytes"} <= value.keys()


def _objects_in(value: Any) -> list[Json]:
    found: list[Json] = []
    values = [value]
    while values:
        each = values.pop()
        if isinstance(each, dict):
            found.append(each)
            values += each.values()
        elif isinstance(each, list):
            values += each
    return found
