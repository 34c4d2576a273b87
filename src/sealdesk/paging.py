"""Paging: cursors that are bound to the query that made them (interface section 4.3)."""

import base64
import binascii
import re

import msgspec

from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.errors import BadRequest
from sealdesk.errors.requests import INVALID_CURSOR, MALFORMED_CURSOR

DEFAULT_PER_PAGE = 25
MAX_PER_PAGE = 100
# A text of ours is far shorter; the cap keeps a hostile one from being decoded at all.
_SHAPE = re.compile(r"[A-Za-z0-9_-]{1,4096}", re.ASCII)

Position = list[str | int]


class PageRequest(msgspec.Struct, frozen=True):
    """What part of a list is asked for: how many rows, after which position."""

    per_page: int
    after: Position | None


class Listing(msgspec.Struct, frozen=True):
    """Which list a cursor belongs to.

    path: with the ids that it holds. query: the normalised filters and order, defaults left out.
    """

    tenant_id: str
    path: str
    query: dict[str, str]


class _Contents(msgspec.Struct, array_like=True):
    query: dict[str, str]
    position: Position


_decode = msgspec.json.Decoder(_Contents).decode
_encode = msgspec.json.Encoder().encode


def seal_cursor(key_ring: KeyRing, listing: Listing, position: Position) -> str:
    """The cursor that goes on after `position` in this listing."""
    token = key_ring.seal_token(_encode(_Contents(listing.query, position)), _about(listing))
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def open_cursor(key_ring: KeyRing, listing: Listing, cursor: str) -> Position:
    """The position that a cursor stands for. Raises Malformed when it is not of this query."""
    try:
        contents = _decode(key_ring.open_token(_from_base64url(cursor), _about(listing)))
    except (UnsealError, ValueError) as error:
        raise BadRequest(MALFORMED_CURSOR, reason="malformed") from error
    changed = _changed_parameters(contents.query, listing.query)
    if changed:
        raise BadRequest(
            INVALID_CURSOR,
            changed=" and ".join(changed),
            reason="query_changed",
            parameters=changed,
        )
    return contents.position


def _about(listing: Listing) -> bytes:
    return f"{listing.tenant_id} {listing.path}".encode()


def _from_base64url(text: str) -> bytes:
    """Raises ValueError unless the text is the one canonical form of its bytes."""
    if _SHAPE.fullmatch(text) is None:
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
