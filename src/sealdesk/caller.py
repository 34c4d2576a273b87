"""The authenticated caller: an API key or a user."""

from typing import Literal

import msgspec

ActorKind = Literal["api_key", "user", "system"]


class Actor(msgspec.Struct, frozen=True):
    """The author of replies, events and audit entries."""

    kind: ActorKind
    id: str
    name: str


class Caller(msgspec.Struct, frozen=True):
    """An actor in a tenant.

    may: the permissions of a key, or the role of a user.
    address: the client's IP address, for the audit.
    has_custom_fields: False if the tenant is known to define none, so that nothing reads them.
    """

    tenant_id: str
    actor: Actor
    may: frozenset[str]
    address: str
    has_custom_fields: bool = True


SYSTEM = Actor("system", "", "sealdesk")
