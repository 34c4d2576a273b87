"""The permissions of API keys; no IO."""

from typing import Annotated

from msgspec import Meta

from sealdesk.errors import Fault

# What a key may that is created without `permissions`.
DEFAULT_PERMISSIONS = (
    "tickets:read",
    "tickets:write",
    "replies:read",
    "replies:write",
    "customers:read",
    "customers:write",
)
# What a key may only if its creator has named it (decision 0070): a webhook sends everything
# that happens to another address, and its delivery log shows it; an import chooses the time and
# the author of what it writes; a rule changes and answers every ticket, and its dry run shows them;
# erasing cannot be undone (decision 0061).
NAMED_PERMISSIONS = (
    *("webhooks:read", "webhooks:write", "rules:read", "rules:write"),
    *("import:write", "customers:erase"),
)
PERMISSIONS = (*DEFAULT_PERMISSIONS, *NAMED_PERMISSIONS)


def _check_permissions(names: list[str]) -> list[Fault]:
    return [
        Fault(
            f"/{place}",
            "unknown_permission",
            "%(name)s is not a permission. There are %(known)s.",
            {"name": ascii(name[:64]), "known": ", ".join(PERMISSIONS)},
        )
        for place, name in enumerate(names)
        if name not in PERMISSIONS
    ]


Permission = Annotated[str, Meta(extra_json_schema={"enum": list(PERMISSIONS)})]
Permissions = Annotated[list[Permission], Meta(max_length=100, extra={"check": _check_permissions})]
