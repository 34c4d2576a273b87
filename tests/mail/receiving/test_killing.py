"""The receiver is killed at any moment: no message is lost, and none has two effects."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.mail.receiving import killing
from tests.mail.receiving.killing import Place
from tests.mail.support import message
from tests.support.databases import SQLITE_FIRST, Kind, Template
from tests.support.service import wait_until


@pytest.fixture
def place(
    kind: Kind, template: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Place]:
    with ExitStack() as stack:
        env: dict[str, str] = {}
        if kind == "postgresql":
            copied: Template = request.getfixturevalue("postgres_template")
            env = stack.enter_context(copied.copied())
        yield killing.prepare(tmp_path / "data", None if env else template, env)


@SQLITE_FIRST
def test_a_message_whose_answer_was_lost_is_taken_once(place: Place) -> None:
    raw = message()
    with killing.received(place) as process:
        client = killing.send_without_reading(place, raw)
        wait_until(place.has_message)
        process.kill()
        killing.close(client)
    with killing.received(place):
        killing.send(place, raw)
    assert place.tickets() == ["A broken bowl"]


@pytest.mark.prove
def test_5000_messages_to_a_receiver_that_is_killed_give_5000_tickets(place: Place) -> None:
    kills = killing.send_all(place, 5000, kill_every_s=2.0)
    assert kills >= 5
    assert sorted(place.tickets()) == sorted(f"Number {number}" for number in range(5000))
