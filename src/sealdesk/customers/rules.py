"""What a change does to a customer, and how a customer is shown; no IO."""

from string import ascii_lowercase, ascii_uppercase

import msgspec

from sealdesk import clock
from sealdesk.customers.types import (
    Customer,
    CustomerChange,
    CustomerRef,
    CustomerResponse,
    Referred,
)
from sealdesk.event_log.events import Changes
from sealdesk.resources import etags, merge_patch

# Events name each of these that a change alters.
_CHANGEABLE = CustomerChange.__struct_fields__
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def changed(customer: Customer, change: CustomerChange, now_us: int) -> Customer:
    """The customer after a change; the same one when nothing differs."""
    fields = merge_patch.given_fields(change)
    if "metadata" in fields:
        fields["metadata"] = merge_patch.merge(customer.metadata, fields["metadata"])
    after = msgspec.structs.replace(customer, **fields)
    if not differences(customer, after):
        return customer
    updated_at = max(now_us, customer.updated_at)
    return msgspec.structs.replace(after, updated_at=updated_at, version=customer.version + 1)


def shown(customer: Customer) -> CustomerResponse:
    return CustomerResponse(
        id=customer.id,
        email=customer.email,
        name=customer.name,
        phone=customer.phone,
        company=customer.company,
        external_id=customer.external_id,
        metadata=customer.metadata,
        created_at=clock.iso(customer.created_at),
        updated_at=clock.iso(customer.updated_at),
        version=customer.version,
    )


def reference(customer: Customer) -> bytes:
    """What a ticket shows of it, as JSON."""
    ref = CustomerRef(customer.id, customer.email, customer.name)
    return msgspec.json.encode(ref)


def referred(customer: Customer) -> Referred:
    return Referred(customer.id, customer.name, customer.version, reference(customer))


def read_reference(stored: bytes, version: int) -> Referred:
    """The customer whose `reference` and version are stored so."""
    ref = msgspec.json.decode(stored, type=CustomerRef)
    return Referred(ref.id, ref.name, version, stored)


def document(customer: Customer) -> bytes:
    """The customer as the API shows it, as JSON."""
    return msgspec.json.encode(shown(customer))


def differences(before: Customer, after: Customer) -> Changes:
    """field → (old, new), for the event of a change."""
    return merge_patch.differences(before, after, _CHANGEABLE)


def etag(customer: Customer) -> str:
    return etags.etag(customer.version)


def spellings(word: str) -> list[str]:
    """How a word may stand in a text of which a database has lowered the ASCII letters alone."""
    forms = (word.lower(), word.title(), word.upper())
    return list(dict.fromkeys(form.translate(_ASCII_LOWER) for form in forms))
