"""The client reads responses up to a bound, also compressed ones, and refuses larger ones."""

import asyncio
import copy
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from sealdesk.client import AsyncDesk, Desk, UnexpectedResponse
from sealdesk.client.bodies import MAX_JSON_BYTES
from tests import vectors

_CHUNK = b" " * 65_536
_BOMB = gzip.compress(b" " * (4 * MAX_JSON_BYTES))


class _Endless(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body without end, which counts what was read."""

    def __init__(self) -> None:
        self.read_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.read_bytes += len(_CHUNK)
            yield _CHUNK

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


def _responding(response: httpx.Response) -> Desk:
    http = httpx.Client(transport=httpx.MockTransport(lambda _: response))
    return Desk(vectors.API_KEY, vectors.API_SECRET, "http://desk.example.test", http=http)


@pytest.mark.parametrize("status", [200, 401, 503])
def test_a_response_without_end_is_refused_at_the_bound(status: int) -> None:
    body = _Endless()
    with pytest.raises(UnexpectedResponse, match="larger than 16,777,216 bytes"):
        _responding(httpx.Response(status, stream=body)).whoami()
    assert body.read_bytes == MAX_JSON_BYTES + len(_CHUNK)


def test_the_asynchronous_desk_refuses_it_too() -> None:
    body = _Endless()
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=body))

    async def work() -> None:
        async with httpx.AsyncClient(transport=transport) as http:
            url = "http://desk.example.test"
            await AsyncDesk(vectors.API_KEY, vectors.API_SECRET, url, http=http).whoami()

    with pytest.raises(UnexpectedResponse, match="larger than"):
        asyncio.run(work())
    assert body.read_bytes == MAX_JSON_BYTES + len(_CHUNK)


def test_a_compressed_response_is_bounded_by_its_decompressed_size() -> None:
    headers = {"content-encoding": "gzip"}
    desk = _responding(httpx.Response(200, headers=headers, stream=httpx.ByteStream(_BOMB)))
    tracemalloc.start()
    try:
        with pytest.raises(UnexpectedResponse, match="larger than"):
            desk.whoami()
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_JSON_BYTES
    finally:
        tracemalloc.stop()


def test_a_small_compressed_response_is_read_and_a_broken_one_is_refused() -> None:
    data = b'{"data":[{"id":"i","name":"Ann"}],"meta":{}}'
    gzipped = {"content-encoding": "gzip"}
    stream = httpx.ByteStream(gzip.compress(data))
    agents = _responding(httpx.Response(200, headers=gzipped, stream=stream)).agents()
    assert [each.name for each in agents] == ["Ann"]
    for encoding in ("gzip", "br"):
        headers = {"content-encoding": encoding}
        response = httpx.Response(200, headers=headers, stream=httpx.ByteStream(data))
        with pytest.raises(UnexpectedResponse, match=r"cannot be decompressed|not asked for"):
            _responding(response).whoami()


def test_a_compressed_body_that_is_cut_off_is_refused() -> None:
    headers = {"content-encoding": "gzip"}
    stream = httpx.ByteStream(gzip.compress(b"12345" * 999)[:-20])
    desk = _responding(httpx.Response(200, headers=headers, stream=stream))
    with pytest.raises(UnexpectedResponse, match="ends within its compressed body"):
        desk.attachments.download("i")
    empty = httpx.Response(200, headers=headers, stream=httpx.ByteStream(b""))
    assert _responding(empty).attachments.download("i") == b""


def test_a_deletion_and_a_file_have_their_responses_too() -> None:
    headers = {"x-request-id": "r"}
    deleted = _responding(httpx.Response(204, headers=headers)).customers.delete("1")
    file = _responding(httpx.Response(200, headers=headers, content=b"a")).attachments.download("1")
    for result in (deleted, file, copy.copy(file)):
        assert result.response and result.response.request_id == "r"


def test_a_download_has_a_bound_of_the_callers_choice() -> None:
    desk = _responding(httpx.Response(200, stream=httpx.ByteStream(b"12345")))
    with pytest.raises(UnexpectedResponse, match="larger than 4 bytes"):
        desk.attachments.download("i", max_bytes=4)
    desk = _responding(httpx.Response(200, stream=httpx.ByteStream(b"12345")))
    assert desk.attachments.download("i", max_bytes=5) == b"12345"
