"""Trails: where each page before this one ended, so that "newer" leads back one page at a time."""

from collections.abc import Callable, Sequence

from sealdesk import ids
from sealdesk.web.form import Form

_LENGTH = 20  # an address has its bounds, and nobody turns back further


def read(asked: Form, is_place: Callable[[str], bool] = ids.is_canonical) -> list[str]:
    """The last place of each page before, an id or what holds one; what is none is passed over."""
    parts = [part for part in asked.text("before").split(",") if is_place(part)]
    return parts[-_LENGTH:]


def older(trail: Sequence[str], last: str) -> str:
    """What leads on, behind this place."""
    return ",".join([*trail, last])


def newer(trail: Sequence[str]) -> str | None:
    """What leads back; None on the first page."""
    return ",".join(trail[:-1]) if trail else None
