"""What sends is killed at any moment: no reply is lost, and none goes twice but in one window."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.mail.sending import killing
from tests.mail.sending.killing import Installation
from tests.support.databases import SQLITE_FIRST, Kind, Template
from tests.support.service import running, wait_until

Env = dict[str, str]


@pytest.fixture
def env(kind: Kind, request: pytest.FixtureRequest) -> Iterator[Env]:
    """The settings of a new database."""
    with ExitStack() as stack:
        copied: Env = {}
        if kind == "postgresql":
            template: Template = request.getfixturevalue("postgres_template")
            copied = stack.enter_context(template.copied())
        yield copied


def finish(made: Installation, count: int) -> None:
    """Send what processes that were killed have left."""
    with running(made.data_dir, None, **made.env) as service, made.serving():
        service.clock.advance(2 * 3600)  # their leases are over, and pauses after failures
        wait_until(lambda: killing.states(service) == {"sent": count})
    assert len({each.message_id for each in made.accepted()}) == count


@SQLITE_FIRST
def test_what_a_killed_process_has_left_is_sent_by_the_next_one(
    env: Env, template: Path, tmp_path: Path
) -> None:
    own = None if env else template
    made = killing.prepare(tmp_path / "data", own, env, mailboxes=2, replies=40)
    with made.serving(), made.sending():
        wait_until(lambda: len(made.accepted()) >= 5)
    kills = [time.monotonic_ns()]
    finish(made, 40)
    assert killing.doubled(made, kills) <= 2


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_5000_replies_are_sent_although_processes_are_killed(
    env: Env,
    template: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = None if env else template
    made = killing.prepare(tmp_path / "data", own, env, mailboxes=10, replies=5000)
    kills = killing.send_all(made, 5000, kill_every_s=2.0)
    kills.append(time.monotonic_ns())
    finish(made, 5000)
    doubled = killing.doubled(made, kills)
    with capsys.disabled():
        sys.stdout.write(f"\n{len(kills)} kills, {doubled} messages were sent twice\n")
    assert len(kills) >= 5
    # At each kill, one message of each mailbox at most.
    assert doubled <= 10 * len(kills)
