"""Paging: cursors that are valid only for the query that made them (interface section 4.3)."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

import msgspec

from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.errors import BadRequest, Gone
from sealdesk.errors.requests import CURSOR_EXPIRED, INVALID_CURSOR, MALFORMED_CURSOR

DEFAULT_PER_PAGE = 25
MAX_PER_PAGE = 100
MAX_PAGE_BYTES = 1024 * 1024  # decision 0029
LAST_ID = "g"  # sorts behind every id
# Our cursors are far shorter; longer ones are refused before they are decoded.
MAX_CURSOR_LENGTH = 4096
_CURSOR = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_CURSOR_LENGTH}}}", re.ASCII)

T = TypeVar("T")
Position = list[str | int]


class PageRequest(msgspec.Struct, frozen=True):
    """Which page of a list: how many rows, after which position.

    max_bytes: of large columns, with which `take_page` and `Tx.fetch_page` end the page early.
    """

    per_page: int
    after: Position | None
    max_bytes: int = MAX_PAGE_BYTES

    @property
    def before(self) -> str:
        """The id that the rows of a list by descending id are below."""
        return str(self.after[0]) if self.after else LAST_ID

    def params(self, tenant_id: str) -> dict[str, object]:
        """The parameters of a list by descending id, with one row more than the page."""
        return {"tenant_id": tenant_id, "before": self.before, "limit": self.per_page + 1}


class Listing(msgspec.Struct, frozen=True):
    """Which list a cursor belongs to.

    path: with its ids. query: the normalised filters and order, without default values.
    epoch: of the installation; a restore from a backup begins a new one.
    """

    tenant_id: str
    path: str
    query: dict[str, str]
    epoch: int = 0


def take_page(items: Iterable[T], page: PageRequest, size: Callable[[T], int]) -> list[T]:
    """The first items that fit in a page, at least one."""
    taken = list(islice(items, page.per_page))
    size_bytes = sum(map(size, taken))
    while size_bytes > page.max_bytes and len(taken) > 1:
        size_bytes -= size(taken.pop())
    return taken


class _Contents(msgspec.Struct, array_like=True):
    query: dict[str, str]
    position: Position
    epoch: int = 0


_decode = msgspec.json.Decoder(_Contents).decode
_encode = msgspec.json.Encoder().encode


def seal_cursor(key_ring: KeyRing, listing: Listing, position: Position) -> str:
    """The cursor of the page after `position` in this listing."""
    token = key_ring.seal_token(
        _encode(_Contents(listing.query, position, listing.epoch)), _associated_data(listing)
    )
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def open_cursor(key_ring: KeyRing, listing: Listing, cursor: str) -> Position:
    """The position in a cursor. Raises BadRequest if it belongs to another query, Gone if it was
    given out before a restore."""
    try:
        contents = _decode(key_ring.open_token(_from_base64url(cursor), _associated_data(listing)))
    except (UnsealError, ValueError) as error:
        raise BadRequest(MALFORMED_CURSOR, reason="malformed") from error
    if contents.epoch != listing.epoch:
        raise Gone(CURSOR_EXPIRED)
    changed = _changed_parameters(contents.query, listing.query)
    if changed:
        raise BadRequest(
            INVALID_CURSOR,
            changed=" and ".join(changed),
            reason="query_changed",
            parameters=changed,
        )
    return contents.position


def _associated_data(listing: Listing) -> bytes:
    return f"{listing.tenant_id} {listing.path}".encode()


def _from_base64url(text: str) -> bytes:
    """Raises ValueError unless the text is the canonical encoding of its bytes."""
    if _CURSOR.fullmatch(text) is None:
        raise ValueError("not base64url")
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError("not base64url") from error
    if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != text:
        raise ValueError("not canonical base64url")
    return decoded


def _changed_parameters(before: dict[str, str], now: dict[str, str]) -> list[str]:
    names = before.keys() | now.keys()
    return sorted(name for name in names if before.get(name) != now.get(name))
