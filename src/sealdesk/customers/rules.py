"""What a change does to a customer, and how a customer is shown; no IO."""

from collections.abc import Iterable, Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import msgspec

from sealdesk.customers.types import (
    Customer,
    CustomerChange,
    CustomerRef,
    CustomerResponse,
    CustomerSummary,
    NewCustomer,
)
from sealdesk.event_log.events import Changes
from sealdesk.resources import merge_patch, representation
from sealdesk.resources.identity import is_visible

# Events name each of these that a change alters.
_CHANGEABLE = CustomerChange.__struct_fields__
# What people see of a customer beside the address.
_TEXTS = ("name", "company", "phone")
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)

to_response = representation.response_builder(CustomerResponse)
to_json = representation.response_encoder(CustomerResponse)


def new_customer(new: NewCustomer, *, tenant_id: str, customer_id: str, now_us: int) -> Customer:
    """The first version of a customer."""
    fields = msgspec.structs.asdict(new)
    fields |= _shown(fields) | {"metadata": new.metadata or {}}
    fields |= distinct(new.email, fields["phone"], new.other_emails, new.other_phones)
    return Customer(
        **fields,
        tenant_id=tenant_id,
        id=customer_id,
        created_at=now_us,
        updated_at=now_us,
        version=1,
    )


def apply_change(customer: Customer, change: CustomerChange, now_us: int) -> Customer:
    """The customer after a change; the same object when nothing differs."""
    fields = merge_patch.given_fields(change)
    fields |= _shown(fields)
    if "metadata" in fields:
        fields["metadata"] = merge_patch.merge(customer.metadata, fields["metadata"])
    email, phone = fields.get("email", customer.email), fields.get("phone", customer.phone)
    other_emails = fields.get("other_emails", customer.other_emails)
    if "email" in fields and "other_emails" not in fields and has_address(customer, email):
        other_emails = (*other_emails, customer.email)
    other_phones = fields.get("other_phones", customer.other_phones)
    fields |= distinct(email, phone, other_emails, other_phones)
    fields["updated_at"] = max(now_us, customer.updated_at)
    fields["version"] = customer.version + 1
    after = msgspec.structs.replace(customer, **fields)
    return after if differences(customer, after) else customer


def addresses(customer: Customer) -> list[str]:
    """The identities of all e-mail addresses of a customer."""
    return [*map(representation.email_identity, (customer.email, *customer.other_emails))]


def has_address(customer: Customer, email: str) -> bool:
    return representation.email_identity(email) in addresses(customer)


def distinct(
    email: str,
    phone: str | None,
    other_emails: Iterable[str] | None,
    other_phones: Iterable[str] | None,
) -> dict[str, Any]:
    """The fields of the further addresses and numbers, each once and without the first one."""
    emails = {representation.email_identity(email): email}
    for each in other_emails or ():
        emails.setdefault(representation.email_identity(each), each)
    phones = dict.fromkeys((phone, *filter(is_visible, other_phones or ())))
    return {"other_emails": (*emails.values(),)[1:], "other_phones": (*phones,)[1:]}


def _shown(fields: Mapping[str, Any]) -> dict[str, str | None]:
    """The texts of these fields as they are stored: one that nobody can see is none."""
    texts = {name: fields[name] for name in _TEXTS if name in fields}
    return {name: text if text and is_visible(text) else None for name, text in texts.items()}


def reference(customer: Customer) -> bytes:
    """CustomerRef as JSON: what a ticket shows of its customer."""
    return msgspec.json.encode(CustomerRef(customer.id, customer.email, customer.name))


def summary_of(customer: Customer) -> CustomerSummary:
    return CustomerSummary(customer.id, customer.name, customer.version, reference(customer))


def differences(before: Customer, after: Customer) -> Changes:
    """field → (old, new), for the event of a change."""
    return merge_patch.differences(before, after, _CHANGEABLE)


def etag(customer: Customer) -> str:
    return representation.etag(customer.version)


def case_variants(word: str) -> list[str]:
    """The ways to write a word in a text of which SQL has lowered only the ASCII letters."""
    variants = (word.lower(), word.title(), word.upper())
    return list(dict.fromkeys(variant.translate(_ASCII_LOWER) for variant in variants))
