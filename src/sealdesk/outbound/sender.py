"""Sending one request: resolve, check, connect to what was checked, read a bounded answer."""

from collections.abc import Mapping

import msgspec

from sealdesk.settings import Network

CONNECT_S = 5.0  # decisions 11
IN_ALL_S = 15.0
MAX_ANSWER_BYTES = 64 * 1024


class Answered(msgspec.Struct, frozen=True):
    """What came back. headers: as they came, names in lower case. body: at most 64 KiB of it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Sender:
    """Sends for one process. Connections that are still good are used again."""

    def __init__(self, allowed: tuple[Network, ...], *, allow_http: bool) -> None:
        self._allowed = allowed
        self._allow_http = allow_http

    async def check(self, url: str) -> None:
        """Try to reach a URL without sending anything. Raises Unsent."""
        raise Unfinished(url)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """Send, and read the answer. Raises Unsent."""
        raise Unfinished(url, headers, body)

    async def close(self) -> None:
        """Close the connections that are kept."""


class Unfinished(Exception):
    """Being built."""
