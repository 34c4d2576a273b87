"""How many files a reader of one signed POST walks through."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import sealdesk
from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.routes import ROUTES, SITE
from sealdesk.state import make_state
from sealdesk.web.application import Application
from tests.support.application import head_of
from tests.support.client import Headers, Key
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service

TICKETS = "/api/v1/external/tickets"
BODY = b'{"subject": "S", "description": "D", "customer": {"email": "ada@example.test"}}'
SOURCE = Path(sealdesk.__file__).parent
MOST_FILES = 26


@contextmanager
def files_of_executed_functions() -> Iterator[set[str]]:
    """The files of src/sealdesk of which a function is called in this thread meanwhile."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            files.add(str(path.relative_to(SOURCE)))

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)


async def create_ticket(application: Application, headers: Headers) -> int:
    """The status of a POST that does not pass through a socket."""
    fields = [
        (b"content-type", b"application/json"),
        *((name.encode(), value.encode()) for name, value in headers.items()),
    ]
    head = await head_of(application, "POST", TICKETS.encode(), fields, BODY)
    return int(head["status"])


def walk(service: Service, headers: Headers) -> set[str]:
    """The files of a ticket's creation, after two that fill the caches and add the customer.

    The service has ended, so that nothing of its background loop is counted.
    """
    key = service.tenant().key()
    service.drop()

    async def create_three() -> set[str]:
        database = open_database(service.settings, name="test")
        application = Application(ROUTES, make_state(service.settings, database, Clock()), SITE)
        for _ in range(2):
            assert await create_ticket(application, _signed(key)) == 201
        with files_of_executed_functions() as files:
            status = await create_ticket(application, _signed(key) | headers)
        assert status == 201
        await database.close()
        return files

    return asyncio.run(create_three())


def _signed(key: Key) -> Headers:
    return key.signature_headers("POST", TICKETS, BODY)


@SQLITE_ONLY
def test_a_signed_post_is_executed_in_few_files(own_service: Service) -> None:
    files = walk(own_service, {})
    assert "tickets/actions.py" in files
    assert len(files) <= MOST_FILES, sorted(files)


@SQLITE_ONLY
def test_with_an_idempotency_key_it_is_executed_in_one_more(own_service: Service) -> None:
    files = walk(own_service, {"idempotency-key": "a-key-of-this-test"})
    assert "records/idempotency.py" in files
    assert len(files) <= MOST_FILES + 1, sorted(files)
