"""The number of rows to fetch at a time."""

import msgspec

from sealdesk_move.tables import Row

_MAX_ROWS = 2000
_TARGET_BYTES = 2 * 1024 * 1024
_encode = msgspec.msgpack.Encoder().encode


class BatchSize:
    """Adapts the number of rows, so that all pages have about the same number of bytes."""

    def __init__(self) -> None:
        self.rows = 100

    def adapt(self, page: list[Row]) -> None:
        """Set the number of rows by the last page, which is not empty."""
        mean_bytes = len(_encode(page)) / len(page)
        self.rows = max(1, min(_MAX_ROWS, int(_TARGET_BYTES / mean_bytes)))
