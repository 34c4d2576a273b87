"""Cursors of the pages before this one, so that "newer" leads back one page at a time."""

from collections.abc import Callable, Sequence

from sealdesk import ids
from sealdesk.web.form import Form

MAX_LENGTH = 20  # keeps addresses short; nobody goes back further


def read(query: Form, is_cursor: Callable[[str], bool] = ids.is_canonical) -> list[str]:
    """The last id of each page before, or what `is_cursor` accepts; anything else is ignored."""
    cursors = [part for part in query.text("before").split(",") if is_cursor(part)]
    return cursors[-MAX_LENGTH:]


def older(trail: Sequence[str], last: str) -> str:
    """The trail of the next page. last: the cursor of this page's end."""
    return ",".join([*trail, last])


def newer(trail: Sequence[str]) -> str | None:
    """The trail of the previous page; None on the first page."""
    return ",".join(trail[:-1]) if trail else None
