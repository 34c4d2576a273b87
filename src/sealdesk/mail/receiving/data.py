"""Reads the data of a message as SMTP sends it (RFC 5321, 4.5.2); no I/O."""

import io

_END = b"\r\n.\r\n"
_LINE_END = b"\r\n"


class MessageData:
    """The data of a message, without the dots that the client has added.

    Only CR LF . CR LF ends it, never a bare LF: otherwise a message could contain a second one that
    the server in front has not seen (SMTP smuggling, CVE-2024-27305).
    size_bytes: of what was received. is_too_large: nothing is held any more.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._content = io.BytesIO()
        # The first line is one as if a line ended before it.
        self._rest = _LINE_END
        self._is_first = True
        self.size_bytes = 0
        self.is_too_large = False

    def add(self, chunk: bytes) -> bytes | None:
        """Add what was received; what came after the end, None before the end."""
        received = self._rest + chunk
        end = received.find(_END)
        if end >= 0:
            self._write(received[: end + len(_LINE_END)])
            return received[end + len(_END) :]
        kept = _length_of_begun_end(received)
        self._write(received[: len(received) - kept])
        self._rest = received[len(received) - kept :]
        return None

    def discard(self) -> None:
        """Hold nothing any more; the rest is only counted."""
        self.is_too_large = True
        self._content = io.BytesIO()

    def content(self) -> bytes:
        """The whole message, without a copy of it."""
        return self._content.getvalue()

    def _write(self, lines: bytes) -> None:
        if not lines:
            return
        content = lines.replace(b"\r\n.", _LINE_END)
        if self._is_first:
            content, self._is_first = content[len(_LINE_END) :], False
        self.size_bytes += len(content)
        if self.size_bytes > self._max_bytes:
            self.discard()
        if not self.is_too_large:
            self._content.write(content)


def _length_of_begun_end(received: bytes) -> int:
    """How many of the last bytes may be the beginning of the end."""
    for length in range(min(len(received), len(_END) - 1), 0, -1):
        if _END.startswith(received[-length:]):
            return length
    return 0
