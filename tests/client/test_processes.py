"""Desks in several processes and threads: forked, pickled and copied."""

import asyncio
import copy
import gc
import multiprocessing
import multiprocessing.connection
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import httpx
import pytest

from sealdesk.client import (
    AsyncDesk,
    Desk,
    InvalidConfiguration,
    SignatureAuth,
    UnexpectedResponse,
    WebhookVerificationError,
    error_codes,
)
from sealdesk.client.errors import AuthenticationFailed, NotFound, make_api_error
from sealdesk.crypto.signing import Signed
from tests.client.test_desk import TICKET
from tests.support.client import Key
from tests.support.service import Tenant

T = TypeVar("T")
FORK = multiprocessing.get_context("fork")
WORKERS = 4


def in_forked_workers(work: Callable[[int], object]) -> list[object]:
    """What the work returns, or the text of its error, in each of some forked processes."""

    def run(index: int, end: multiprocessing.connection.Connection) -> None:
        try:
            end.send(work(index))
        except Exception as error:  # the parent compares it
            end.send(repr(error))

    pipes = [FORK.Pipe(duplex=False) for _ in range(WORKERS)]
    workers = [FORK.Process(target=run, args=(i, pipe[1])) for i, pipe in enumerate(pipes)]
    for worker in workers:
        worker.start()
    found = [end.recv() for end, _ in pipes]
    for worker in workers:
        worker.join()
    return found


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_workers_read_their_own_responses(desk: Desk) -> None:
    ids = [desk.tickets.create(**TICKET).id for _ in range(WORKERS)]

    def read(index: int) -> list[str]:
        return [desk.tickets.get(ids[index]).id for _ in range(20)]

    assert in_forked_workers(read) == [[each] * 20 for each in ids]
    assert desk.tickets.get(ids[0]).id == ids[0]


def test_each_event_loop_has_connections_of_its_own(key: Key) -> None:
    desk = AsyncDesk(key.api_key, key.api_secret, key.service.url)

    async def work() -> str:
        found = {(await desk.whoami()).key_id for _ in range(5)}
        await desk.close()
        return found.pop()

    async def forget() -> str:
        return (await desk.whoami()).key_id  # as a task of Celery does, which closes nothing

    assert asyncio.run(work()) == asyncio.run(work()) == key.id
    with ThreadPoolExecutor(3) as pool:
        assert {*pool.map(lambda _: asyncio.run(work()), range(3))} == {key.id}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of the connections of closed loops
        assert [asyncio.run(forget()) for _ in range(3)] == [key.id] * 3
        assert len(desk._connections._own._clients) == 1
        asyncio.run(work())
        gc.collect()


def test_a_running_desk_signs_with_a_rotated_secret(tenant: Tenant) -> None:
    key = tenant.key()
    with Desk(key.api_key, key.api_secret, key.service.url) as desk:
        other = desk.with_options(timeout_s=20)
        rotated = tenant.admin().post(f"/api/v1/api-keys/{key.id}/rotate").json()["data"]
        with pytest.raises(AuthenticationFailed):
            desk.whoami()
        with pytest.raises(InvalidConfiguration):
            desk.use_credentials(key.api_key, "cut off")
        desk.use_credentials(key.api_key, rotated["api_secret"])
        assert desk.whoami().key_id == other.whoami().key_id == key.id


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_given_client_of_httpx_is_not_used_in_a_forked_process(key: Key) -> None:
    with httpx.Client(timeout=60) as http:
        desk = Desk(key.api_key, key.api_secret, key.service.url, http=http)
        desk.whoami()
        found = in_forked_workers(lambda _: desk.whoami().key_id)
    assert all("InvalidConfiguration" in str(each) for each in found)


def test_equal_writes_of_several_processes_are_signed_until_each_is_unused(tenant: Tenant) -> None:
    key = tenant.key(replay_protection="writes")
    desks = [Desk(key.api_key, key.api_secret, key.service.url) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = [*pool.map(lambda desk: desk.customers.upsert("e", email="a@example.test"), desks)]
    assert len({each.id for each in made}) == 1
    for desk in desks:
        desk.close()


def test_the_lock_of_a_parent_does_not_stop_a_forked_process(key: Key) -> None:
    auth = SignatureAuth(key.api_key, key.api_secret)
    with auth.signer._lock:
        # The child would wait for ever for the lock that this thread holds.
        found = in_forked_workers(lambda _: auth.signer.sign("GET", b"/", b"") is not None)
    assert found == [True] * WORKERS


def test_a_response_about_another_ticket_is_refused(desk: Desk) -> None:
    opened, other = desk.tickets.create(**TICKET), desk.tickets.create(**TICKET)
    body = desk.request("GET", f"/api/v1/external/tickets/{other.id}").content
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    with httpx.Client(transport=transport) as http:
        credentials = desk._session.auth.signer._credentials
        misled = Desk(*credentials, desk.base_url, http=http)
        with pytest.raises(UnexpectedResponse, match="which was not asked for"):
            misled.tickets.get(opened.id)


def pickled(value: T) -> T:
    """The value, after it was sent to another process."""
    copied: T = pickle.loads(pickle.dumps(value))  # noqa: S301 # its own
    return copied


def test_everything_public_is_pickled_and_copied(desk: Desk, key: Key) -> None:
    ticket = desk.tickets.create(**TICKET)
    with pytest.raises(NotFound) as missing:
        desk.tickets.get("0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a")
    unknown = make_api_error(418, b'{"code":"new","detail":"D"}', retry_after_s=2.0)
    errors = (
        missing.value,
        unknown,
        error_codes.TicketClosed(409, {"code": "ticket_closed"}, retry_after_s=None),
        UnexpectedResponse("text", status=502, url="http://a.test"),
        WebhookVerificationError("signature_mismatch"),
        InvalidConfiguration("text"),
    )
    for error in errors:
        for twin in (pickled(error), copy.copy(error), copy.deepcopy(error)):
            assert (type(twin), str(twin), vars(twin)) == (type(error), str(error), vars(error))
    for value in (ticket, Signed(b"1", b"GET", b"/", b"")):
        assert pickled(value) == copy.copy(value) == value
    for same in (pickled(ticket), copy.copy(ticket), copy.deepcopy(ticket)):
        assert same.response == ticket.response
        assert same.etag == ticket.etag is not None
    settings = (key.api_key, key.api_secret, desk.base_url)
    with Desk(*settings) as original, pickled(original) as sent, copy.copy(original) as copied:
        assert sent.tickets.get(ticket.id) == copied.tickets.get(ticket.id) == ticket
        assert pickled(original.events.follow(cursor="c")).cursor == "c"
        tickets = original.tickets.list(status="open")
        assert type(pickled(tickets)) is type(tickets)
    assert pickled(AsyncDesk(*settings)).base_url == desk.base_url
