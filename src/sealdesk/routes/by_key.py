"""The rows of the external API that do for an API key what others do for administrators."""

from collections.abc import Sequence

import msgspec

from sealdesk.api_keys.guard.signed import signed
from sealdesk.web.operation import Route


def by_key(rows: Sequence[Route], resource: str) -> tuple[Route, ...]:
    """The same rows behind a signature and the permissions of this resource (decision 0070)."""
    read, write = signed(f"{resource}:read"), signed(f"{resource}:write")
    return tuple(
        msgspec.structs.replace(
            row,
            path=row.path.replace("/api/v1/", "/api/v1/external/", 1),
            guard=read if row.method == "GET" else write,
            operation=msgspec.structs.replace(
                row.operation,
                name=f"{row.operation.name}_by_key",
                summary=f"{row.operation.summary} (API key)",
            ),
        )
        for row in rows
    )
