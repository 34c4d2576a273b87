"""The authenticated caller: an API key or a user."""

from typing import Literal

import msgspec

# The permission to choose the time and the author of what is written.
IMPORT = "import:write"

# customer: somebody who has written an e-mail.
ActorKind = Literal["api_key", "user", "system", "customer"]


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
    has_policies: the same of SLA policies.
    is_worker: whether it is the worker, which does not notify followers.
    """

    tenant_id: str
    actor: Actor
    may: frozenset[str]
    address: str
    has_custom_fields: bool = True
    has_policies: bool = True
    is_worker: bool = False


SYSTEM = Actor("system", "", "sealdesk")


def by_mail(tenant_id: str, actor: Actor) -> Caller:
    """A caller for what comes by e-mail, which says nothing of custom fields."""
    return Caller(tenant_id, actor, frozenset(), "", has_custom_fields=False)


def without_rights(tenant_id: str, actor: Actor, address: str = "") -> Caller:
    """A caller for the audit log: who acts before or without authentication, as commands do."""
    return Caller(tenant_id, actor, frozenset(), address)
