"""Trails: where each page before this one ended, so that "newer" leads back one page at a time."""

from sealdesk import ids
from sealdesk.web.forms import Form

_LENGTH = 20  # an address has its bounds, and nobody turns back further


def read(asked: Form) -> list[str]:
    """The last id of each page before; what is no id is passed over."""
    parts = [part for part in asked.text("before").split(",") if ids.is_canonical(part)]
    return parts[-_LENGTH:]


def older(trail: list[str], last_id: str) -> str:
    """What leads on, behind this id."""
    return ",".join([*trail, last_id])


def newer(trail: list[str]) -> str | None:
    """What leads back; None on the first page."""
    return ",".join(trail[:-1]) if trail else None
