"""The structs of merging customers."""

from typing import Any, ClassVar

import msgspec

from sealdesk.customers.types import Customer


class CustomerMerge(msgspec.Struct, frozen=True):
    """The body of a request that merges a customer into another.

    into: the id of the customer that stays.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset()

    into: str


class Gained(msgspec.Struct, frozen=True):
    """What the customer that stays got of the other one, beside the addresses.

    fields: that were empty. metadata: keys that were missing.
    """

    fields: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    phones: tuple[str, ...] = ()


class StoredMerge(msgspec.Struct, frozen=True):
    """A merged customer as they were, and what undoing the merge needs.

    ticket_ids: of the tickets that moved.
    """

    tenant_id: str
    source_id: str
    target_id: str
    customer: Customer
    gained: Gained
    ticket_ids: tuple[str, ...]
    merged_at: int
