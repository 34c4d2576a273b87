"""What a change does to a customer, and how a customer is shown; no IO."""

from string import ascii_lowercase, ascii_uppercase

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
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)

to_response = representation.response_builder(CustomerResponse)
to_json = representation.response_encoder(CustomerResponse)


def new_customer(new: NewCustomer, *, tenant_id: str, customer_id: str, now_us: int) -> Customer:
    """The first version of a customer."""
    fields = msgspec.structs.asdict(new)
    fields |= {"name": _shown(new.name), "metadata": new.metadata or {}}
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
    if "name" in fields:
        fields["name"] = _shown(fields["name"])
    if "metadata" in fields:
        fields["metadata"] = merge_patch.merge(customer.metadata, fields["metadata"])
    fields["updated_at"] = max(now_us, customer.updated_at)
    fields["version"] = customer.version + 1
    after = msgspec.structs.replace(customer, **fields)
    return after if differences(customer, after) else customer


def _shown(name: str | None) -> str | None:
    """A name as it is stored: one that nobody can see is none."""
    return name if name is not None and is_visible(name) else None


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
