"""How many rows to ask for at once."""

import msgspec

from sealdesk.db.moving.tables import Row

_MOST_ROWS = 2000
_ABOUT_BYTES = 2 * 1024 * 1024
_encode = msgspec.msgpack.Encoder().encode


class Pace:
    """How many rows to ask for next: pages of about the same size, whatever the rows hold."""

    def __init__(self) -> None:
        self.rows = 100

    def heed(self, page: list[Row]) -> None:
        """Learn from the last page, which has a row or more."""
        mean_bytes = len(_encode(page)) / len(page)
        self.rows = max(1, min(_MOST_ROWS, int(_ABOUT_BYTES / mean_bytes)))
