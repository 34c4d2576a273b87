"""ETags of resources, and the check of If-Match (RFC 9110 section 13)."""

from sealdesk.errors import PreconditionFailed
from sealdesk.errors.general import VERSION_MISMATCH


def etag(version: int, part_version: int | None = None) -> str:
    """The entity tag of a resource that changes with its version and with that of a part."""
    return f'"{version}"' if part_version is None else f'"{version}.{part_version}"'


def check_match(if_match: tuple[str, ...] | None, current: str) -> None:
    """Raises PreconditionFailed when If-Match does not name the current ETag."""
    if if_match is not None and "*" not in if_match and current not in if_match:
        raise PreconditionFailed(VERSION_MISMATCH, current=current)
