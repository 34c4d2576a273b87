"""The servers that other tests stand on are as those expect them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Postgres, Redis, run_postgres, run_redis_url, server_directory


@pytest.fixture
def directory() -> Iterator[Path]:
    with server_directory() as path:
        yield path


def test_the_cluster_of_the_run_accepts() -> None:
    assert run_postgres().sql("SELECT 1") == ["1"]


def test_a_cluster_is_started_killed_and_restarted(directory: Path) -> None:
    cluster = Postgres.start(directory / "one", fsync=False)
    cluster.sql("CREATE TABLE kept AS SELECT 1 AS number")
    cluster.kill()
    assert not cluster.is_running()
    cluster.start_again()
    assert cluster.sql("SELECT number FROM kept") == ["1"]
    cluster.stop()
    assert not cluster.is_running()


def test_a_synchronous_standby_takes_over(directory: Path) -> None:
    primary = Postgres.start(directory / "one", fsync=False)
    standby = primary.standby(directory / "two")
    primary.sql("CREATE TABLE kept AS SELECT 1 AS number")
    primary.kill()
    standby.promote()
    assert standby.sql("INSERT INTO kept VALUES (2); SELECT count(*) FROM kept") == ["2"]
    standby.stop()


def test_redis_comes_back_on_its_port(directory: Path) -> None:
    server = Redis.start(directory / "redis")
    server.kill()
    assert not server.is_running()
    server.start_again()
    assert server.url == f"redis://127.0.0.1:{server.port}/0"
    server.stop()


def test_redis_of_the_run_is_there() -> None:
    assert run_redis_url().startswith("redis://127.0.0.1:")
