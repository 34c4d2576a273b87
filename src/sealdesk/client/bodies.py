"""Decodes the body of a response, and refuses one that is larger than its bound."""

import zlib

import httpx

from sealdesk.client.deadlines import find_left_s
from sealdesk.client.errors import UnexpectedResponse

MAX_JSON_BYTES = 16 * 1024 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
# Of the decoded body, so they no longer apply.
_HEADERS_OF_ENCODING = ("content-encoding", "content-length", "transfer-encoding")


class BoundedBody:
    """The body of a streamed response, from its chunks. Raises UnexpectedResponse.

    httpx decodes each chunk as a whole, which makes up to 1,000 times its size of it.
    """

    def __init__(self, response: httpx.Response, max_bytes: int) -> None:
        self._response = response
        self._max_bytes = max_bytes
        self._chunks: list[bytes] = []
        self._size_bytes = 0
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._is_encoded = encoding in ("gzip", "deflate")
        if not self._is_encoded and encoding != "identity":
            raise self._refusal(f"has the encoding {encoding[:40]!r}, which was not asked for")

    def add(self, chunk: bytes) -> None:
        """Add the next bytes, as they were received. Raises ReadTimeout after the deadline."""
        find_left_s(self._response.request)
        if not chunk:
            return
        decoded = self._decode(chunk) if self._is_encoded else chunk
        self._size_bytes += len(decoded)
        if self._size_bytes > self._max_bytes:
            raise self._refusal(f"is larger than {self._max_bytes:,} bytes")
        self._chunks.append(decoded)

    def complete(self) -> httpx.Response:
        """Return the response with its body. Raises UnexpectedResponse if it is cut off."""
        if self._is_encoded and self._chunks and not self._decoder.eof:
            raise self._refusal("ends within its compressed body")
        original = self._response
        headers = httpx.Headers(original.headers)
        for name in _HEADERS_OF_ENCODING:
            headers.pop(name, None)
        return httpx.Response(
            original.status_code,
            headers=headers,
            content=b"".join(self._chunks),
            request=original.request,
        )

    def _decode(self, chunk: bytes) -> bytes:
        try:
            return self._decoder.decompress(chunk, self._max_bytes - self._size_bytes + 1)
        except zlib.error as error:
            raise self._refusal("cannot be decompressed") from error

    def _refusal(self, what: str) -> UnexpectedResponse:
        url = self._response.request.url.copy_with(query=None, username=None, password=None)
        status = self._response.status_code
        text = f"the response of {url} (status {status}) {what}, so it was not read."
        return UnexpectedResponse(text, status=status, url=str(url))
