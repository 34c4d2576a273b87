"""What a customer is and which values it may have; no IO."""

from string import ascii_lowercase, ascii_uppercase
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk import clock
from sealdesk.clock import Iso
from sealdesk.event_log.events import Changes
from sealdesk.ids import Id
from sealdesk.resources import emails

MAX_OBJECT_BYTES = 16 * 1024
Found = list[tuple[str, str, str]]


def _check_email(address: str) -> Found:
    wrong = emails.fault(address)
    return [] if wrong is None else [("", "invalid_email", f"This {wrong}")]


def check_object(value: dict[str, Any]) -> Found:
    """Free JSON objects are bounded by their size as JSON."""
    if len(msgspec.json.encode(value)) > MAX_OBJECT_BYTES:
        return [("", "too_large", f"This must be at most {MAX_OBJECT_BYTES} bytes of JSON.")]
    return []


Email = Annotated[str, Meta(extra={"check": _check_email}, extra_json_schema={"format": "email"})]
Text64 = Annotated[str, Meta(max_length=64)]
Text255 = Annotated[str, Meta(max_length=255)]
Object = Annotated[dict[str, Any], Meta(extra={"check": check_object})]

_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_READ_ONLY = frozenset({"id", "created_at", "updated_at", "version"})


class NewCustomer(msgspec.Struct, frozen=True):
    """What creating a customer takes."""

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY

    email: Email
    name: Text255 | None = None
    phone: Text64 | None = None
    company: Text255 | None = None
    external_id: Text255 | None = None
    metadata: Object | None = None


class CustomerChange(msgspec.Struct, frozen=True):
    """What changing a customer takes; what is left out stays, null clears."""

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY

    email: Email | UnsetType = UNSET
    name: Text255 | UnsetType | None = UNSET
    phone: Text64 | UnsetType | None = UNSET
    company: Text255 | UnsetType | None = UNSET
    external_id: Text255 | UnsetType | None = UNSET
    metadata: Object | UnsetType | None = UNSET


class Customer(msgspec.Struct, frozen=True):
    """A customer as it is stored."""

    tenant_id: str
    id: str
    email: str
    name: str | None
    phone: str | None
    company: str | None
    external_id: str | None
    metadata: dict[str, Any]
    created_at: int
    updated_at: int
    version: int


class CustomerRef(msgspec.Struct, frozen=True):
    """What a ticket shows of its customer."""

    id: Id
    email: str
    name: str | None


class Referred(NamedTuple):
    """A customer as far as a ticket is concerned. reference: CustomerRef as JSON."""

    id: str
    name: str | None
    version: int
    reference: bytes


class CustomerResponse(msgspec.Struct, frozen=True):
    """A customer as the API shows it.

    email: as it was given; belongs to one customer of the tenant, whatever its case.
    external_id: what your own system calls them; need not be unique.
    metadata: a free object of at most 16 KiB as JSON; a change is merged into it.
    updated_at: of the last change that changed anything.
    version: rises with every change; the ETag is made of it.
    """

    id: Id
    email: str
    name: str | None
    phone: str | None
    company: str | None
    external_id: str | None
    metadata: dict[str, Any]
    created_at: Iso
    updated_at: Iso
    version: int


def changed(customer: Customer, change: CustomerChange, now_us: int) -> Customer:
    """The customer after a change; the same one when nothing differs."""
    wanted = {k: v for k, v in msgspec.structs.asdict(change).items() if v is not UNSET}
    if "metadata" in wanted:
        wanted["metadata"] = merged(customer.metadata, wanted["metadata"])
    after = msgspec.structs.replace(customer, **wanted)
    if not differences(customer, after):
        return customer
    updated_at = max(now_us, customer.updated_at)
    return msgspec.structs.replace(after, updated_at=updated_at, version=customer.version + 1)


def merged(before: dict[str, Any], patch: dict[str, Any] | None) -> dict[str, Any]:
    """A free object after a JSON Merge Patch (RFC 7396); null for the whole empties it."""
    if patch is None:
        return {}
    after = dict(before)
    for name, value in patch.items():
        if value is None:
            after.pop(name, None)
        elif isinstance(value, dict):
            inner = after.get(name)
            after[name] = merged(inner if isinstance(inner, dict) else {}, value)
        else:
            after[name] = value
    return after


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


_WATCHED = ("email", "name", "phone", "company", "external_id", "metadata")


def differences(before: Customer, after: Customer) -> Changes:
    """field → (old, new), for the event of a change."""
    return {
        name: (getattr(before, name), getattr(after, name))
        for name in _WATCHED
        if not is_same(getattr(before, name), getattr(after, name))
    }


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; Python alone takes 1, 1.0 and true for equal."""
    if one != other or not isinstance(one, dict):
        return bool(one == other)
    encode = msgspec.json.encode
    return encode(one, order="deterministic") == encode(other, order="deterministic")


def etag(customer: Customer) -> str:
    return f'"{customer.version}"'


def spellings(word: str) -> list[str]:
    """How a word may stand in a text of which a database has lowered the ASCII letters alone."""
    forms = (word.lower(), word.title(), word.upper())
    return list(dict.fromkeys(form.translate(_ASCII_LOWER) for form in forms))
