"""httptools' parser of requests, which reads a request with `Upgrade` as any other."""

from collections.abc import Sequence
from typing import Any

import httptools

from sealdesk.web.request import Header


class RequestParser:
    """Parses the requests of one connection.

    httptools reads no body of a request with `Upgrade`, and nothing after it. A server may ignore
    `Upgrade` (RFC 9110 7.8), and Java's HttpClient sends it by default. So a new parser gets the
    head of such a request without it, and then the bytes that follow the head.
    """

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._start()

    def _start(self) -> None:
        self._parser = httptools.HttpRequestParser(self._protocol)
        # The data after a request with "connection: close" are ignored, as its response is sent.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._head = b""
        self.get_method = self._parser.get_method
        self.get_http_version = self._parser.get_http_version
        self.should_keep_alive = self._parser.should_keep_alive

    @property
    def is_parsing_again(self) -> bool:
        """Whether the head that is complete will be reported again, without `Upgrade`."""
        return self._head != b""

    def skip_upgrade(self, target: bytes, headers: Sequence[Header]) -> bool:
        """Whether the complete head asks for an upgrade; then it is reported again without it."""
        if self._parser.should_upgrade() and self.get_method() != b"CONNECT":
            kept = [b"%s: %s\r\n" % each for each in headers if each[0] != b"upgrade"]
            first = (self.get_method(), target, self.get_http_version().encode())
            self._head = b"%s %s HTTP/%s\r\n%s\r\n" % (*first, b"".join(kept))
        return self.is_parsing_again

    def feed_data(self, data: bytes) -> None:
        """Raises HttpParserError, of which HttpParserUpgrade stands for CONNECT."""
        rest = memoryview(data)  # many short requests in one read are not copied again and again
        while rest:
            try:
                self._parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                if not self.is_parsing_again:
                    raise
                rest, head = rest[upgrade.args[0] :], self._head
            self._start()
            self._parser.feed_data(head)
