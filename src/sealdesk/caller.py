"""Who asks, once proven: the same plain value whatever proved it."""

from typing import Literal

import msgspec

ActorKind = Literal["api_key", "user", "system"]


class Actor(msgspec.Struct, frozen=True):
    """Who did something: named in replies, events and the audit."""

    kind: ActorKind
    id: str
    name: str


class Caller(msgspec.Struct, frozen=True):
    """The tenant acted in, who acts, and what they may do.

    may: permission names for a key, the role for a user.
    address: the client's IP address, for the audit.
    """

    tenant_id: str
    actor: Actor
    may: frozenset[str]
    address: str


SYSTEM = Actor("system", "", "sealdesk")
