"""The client without asyncio is made from the one with it."""

from tests.client import sync_source


def test_the_client_without_asyncio_is_made_from_the_one_with_it() -> None:
    assert {path: path.read_text() for path in sync_source.made()} == sync_source.made()
