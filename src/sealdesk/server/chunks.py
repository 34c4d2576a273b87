"""What a chunk of a body announces and has not sent yet: httptools reports no size of a chunk."""

_LONGEST_LINE = 64  # a size has at most 16 digits, after zeros and before extensions


class ChunkSizes:
    """Reads the size of the chunk that the data of one connection end in.

    missing_bytes: what the chunk has announced and has not sent yet.
    """

    def __init__(self) -> None:
        self.missing_bytes = 0
        self._is_open = self._is_new = False
        self._seen_bytes = 0
        self._line = b""

    def begin(self) -> None:
        """The line with the size of a chunk is complete."""
        self._is_open = self._is_new = True
        self._seen_bytes = 0

    def add(self, size: int) -> None:
        """A part of a body of this size has come."""
        self._seen_bytes += size
        self.missing_bytes -= min(size, self.missing_bytes)

    def end(self) -> None:
        """The chunk is complete."""
        self._is_open = False
        self.missing_bytes = 0

    def end_data(self, data: bytes) -> None:
        """These data have been parsed."""
        if self._is_open and self._is_new:
            before = self._line + data
            announced = _size_of(before[: len(before) - self._seen_bytes])
            self.missing_bytes = max(0, announced - self._seen_bytes)
        self._is_new = False
        self._line = (self._line + data[-_LONGEST_LINE:])[-_LONGEST_LINE:]


def _size_of(data: bytes) -> int:
    """The size in the last line of the data; 0 if it is another line, such as a trailer."""
    line = data.rstrip(b"\r\n").rpartition(b"\n")[2]
    size = line.partition(b";")[0].strip()
    try:
        return int(size, 16) if data.endswith(b"\n") and size.isalnum() else 0
    except ValueError:
        return 0
