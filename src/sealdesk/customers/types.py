"""The structs of customers: as requested, as stored, and as shown."""

from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.ids import Id
from sealdesk.resources.representation import CONDITIONS, Email, Object, Text64, Text255

MAX_OTHERS = 20
OtherEmails = Annotated[list[Email], Meta(max_length=MAX_OTHERS)]
OtherPhones = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=64)]], Meta(max_length=MAX_OTHERS)
]
_READ_ONLY = frozenset({"id", "created_at", "updated_at", "merged_into_id", "version"})


class NewCustomer(msgspec.Struct, frozen=True):
    """The body of a request that creates a customer."""

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY

    email: Email
    name: Text255 | None = None
    phone: Text64 | None = None
    company: Text255 | None = None
    external_id: Text255 | None = None
    metadata: Object | None = None
    other_emails: OtherEmails | None = None
    other_phones: OtherPhones | None = None


class CustomerChange(msgspec.Struct, frozen=True):
    """A merge patch of a customer: fields left out stay as they are, null clears.

    email: one of `other_emails` changes places with the present one.
    other_emails, other_phones: all of them.
    """

    MISTAKEN: ClassVar[dict[str, str]] = CONDITIONS

    email: Email | UnsetType = UNSET
    name: Text255 | UnsetType | None = UNSET
    phone: Text64 | UnsetType | None = UNSET
    company: Text255 | UnsetType | None = UNSET
    external_id: Text255 | UnsetType | None = UNSET
    metadata: Object | UnsetType | None = UNSET
    other_emails: OtherEmails | UnsetType | None = UNSET
    other_phones: OtherPhones | UnsetType | None = UNSET


class CustomerUpsert(msgspec.Struct, frozen=True):
    """The body of a request that creates or changes the customer with an external_id.

    Fields left out stay as they are, null clears.
    """

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY | {"external_id"}

    email: Email
    name: Text255 | UnsetType | None = UNSET
    phone: Text64 | UnsetType | None = UNSET
    company: Text255 | UnsetType | None = UNSET
    metadata: Object | UnsetType | None = UNSET


class CustomerFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a customer that the API shows as they are stored.

    email: as it was given; belongs to one customer of the tenant, whatever its case.
    other_emails, other_phones: further ones, at most 20; who writes from one of these addresses is
    this customer.
    merged_into_id: the customer that this one was merged into.
    external_id: what your own system calls them; need not be unique.
    metadata: a free object of at most 16 KiB as JSON; a change is merged into it.
    """

    id: Id
    email: str
    name: str | None
    phone: str | None
    company: str | None
    external_id: str | None
    metadata: dict[str, Any]
    other_emails: tuple[str, ...] = ()
    other_phones: tuple[str, ...] = ()
    merged_into_id: Id | None = None


class Customer(CustomerFields, frozen=True, kw_only=True):
    """A customer as it is stored: its columns, with times in microseconds.

    merged_into_id: only of those that `customer_merges` keeps.
    """

    tenant_id: str
    created_at: int
    updated_at: int
    version: int


class CustomerResponse(CustomerFields, frozen=True, kw_only=True):
    """A customer as the API shows it.

    updated_at: of the last change that changed anything.
    version: rises with every change; the ETag is made of it.
    """

    created_at: Iso
    updated_at: Iso
    version: int


class CustomerRef(msgspec.Struct, frozen=True):
    """What a ticket shows of its customer."""

    id: Id
    email: str
    name: str | None


class StoredReference(NamedTuple):
    """A customer as a statement on tickets reads it. json: CustomerRef as JSON."""

    json: bytes
    version: int


class CustomerSummary(NamedTuple):
    """What opening a ticket needs of its customer. reference: CustomerRef as JSON."""

    id: str
    name: str | None
    version: int
    reference: bytes
