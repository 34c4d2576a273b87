"""The limits that all processes share, and what is left of them while Redis is away."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from itertools import cycle
from typing import Any
from uuid import uuid4

import pytest
import redis as client
import uvloop
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sealdesk.errors import ConfigurationError
from sealdesk.rate_limits import redis_connection, redis_limiter
from sealdesk.rate_limits.limiter import PERIOD_S, Budget, RateLimiter, RateState
from sealdesk.rate_limits.redis_connection import RedisConnection, Spend, Spent
from sealdesk.rate_limits.redis_limiter import WAIT_S, SharedLimiter
from tests.servers import Redis, free_port, run_redis_url, server_directory
from tests.support.logs import captured_logs

PASSWORD = "canary-password-of-redis"
NODES = 3
# For what happens at once, or after a look: only a machine that stands still takes so long.
SOON_S = 20.0


class Unhurried:
    """asyncio, whose timeouts never end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    def timeout(self, for_s: float) -> Any:
        return nullcontext()

    timeout_at = timeout


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis counts as away when it refuses, not when this machine is too busy to hear it."""
    monkeypatch.setattr(redis_limiter, "asyncio", Unhurried())


@pytest.fixture
def url(patient: None) -> str:
    """The Redis of the run, which nobody harms."""
    return run_redis_url()


@pytest.fixture
def server() -> Iterator[Redis]:
    """A Redis of the test's own, which it may harm."""
    with server_directory() as directory:
        server = Redis.start(directory / "redis")
        yield server
        server.kill()


@pytest.fixture
def command(server: Redis) -> Iterator[Callable[..., Any]]:
    """Runs a command of Redis: command("CONFIG", "SET", "maxmemory", 1)."""
    with client.Redis(port=server.port) as connection:
        yield connection.execute_command


def in_a_loop(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


@asynccontextmanager
async def started(url: str, count: int = NODES) -> AsyncIterator[list[SharedLimiter]]:
    """So many limiters, as of so many processes."""
    limiters = [SharedLimiter(url, count, time.monotonic) for _ in range(count)]
    await asyncio.gather(*(limiter.start() for limiter in limiters))
    try:
        yield limiters
    finally:
        for limiter in limiters:
            await limiter.stop()


async def take(limiters: list[SharedLimiter], count: int, limit: int, key: str) -> list[RateState]:
    """So many requests, in turn over the limiters, all at once."""
    asked = (limiters[place % len(limiters)].take(Budget(key, limit)) for place in range(count))
    return await asyncio.gather(*asked)


def accepted(states: list[RateState]) -> int:
    return sum(state.accepted for state in states)


async def all_are(mode: str, limiters: list[SharedLimiter]) -> None:
    async with asyncio.timeout(SOON_S):
        while any(limiter.mode != mode for limiter in limiters):  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def a_key() -> str:
    return str(uuid4())


def test_the_limit_holds_over_all_processes(url: str) -> None:
    async def work() -> None:
        key = a_key()
        async with started(url) as limiters:
            assert [limiter.mode for limiter in limiters] == ["shared"] * NODES
            # 15 s a request: none comes back while the test runs.
            assert accepted(await take(limiters, 30, 4, key)) == 4
            assert accepted(await take(limiters, 30, 4, key)) == 0

    in_a_loop(work())


def test_each_response_has_the_remaining_budget_of_all_processes(url: str) -> None:
    async def work() -> None:
        key = a_key()
        async with started(url) as limiters:
            states = [await limiters[place % NODES].take(Budget(key, 5)) for place in range(6)]
        assert [state.remaining for state in states] == [4, 3, 2, 1, 0, 0]
        assert [state.accepted for state in states] == [True] * 5 + [False]
        for place, state in enumerate(states[:5], start=1):
            # The time that goes by meanwhile is taken from it.
            assert 12 * place - 8 < state.full_in_s <= 12 * place
        assert 4 < states[5].retry_after_s <= 12

    in_a_loop(work())


def test_of_concurrent_requests_the_first_ones_are_accepted(url: str) -> None:
    async def work() -> None:
        async with started(url, 1) as limiters:
            one, other = a_key(), a_key()
            states = await asyncio.gather(take(limiters, 9, 6, one), take(limiters, 3, 2, other))
        assert [state.remaining for state in states[0]] == [5, 4, 3, 2, 1, 0, 0, 0, 0]
        assert [state.accepted for state in states[0]] == [True] * 6 + [False] * 3
        assert [state.accepted for state in states[1]] == [True, True, False]

    in_a_loop(work())


def test_charged_units_count_in_all_processes(url: str) -> None:
    async def work() -> None:
        tenant = Budget(a_key(), 60, 10)  # 10 units, and another each second
        async with started(url) as limiters:
            for limiter in limiters[:2]:
                limiter.charge(tenant, 6)
                assert (await limiter.take(tenant)).accepted
            assert not (await limiters[2].take(tenant)).accepted

    in_a_loop(work())


def test_units_that_no_request_follows_are_sent_soon(
    server: Redis, command: Callable[..., Any]
) -> None:
    async def work() -> None:
        tenant = Budget(a_key(), 60, 10)
        async with started(server.url, 1) as limiters:
            limiters[0].charge(tenant, 60)
            async with asyncio.timeout(SOON_S):
                while not command("EXISTS", f"sealdesk:rate:{tenant.id}"):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

    in_a_loop(work())


def test_a_refused_tenant_is_not_charged_to_the_key(url: str) -> None:
    async def work() -> None:
        tenant, key = Budget(a_key(), 60, 10), Budget(a_key(), 5)
        async with started(url, 1) as limiters:
            limiters[0].charge(tenant, 60)
            states = [await limiters[0].take_both(tenant, key) for _ in range(3)]
        assert [(tenant.accepted, key.remaining) for tenant, key in states] == [(False, 5)] * 3

    in_a_loop(work())


def test_both_budgets_are_spent_in_one_round_trip(url: str) -> None:
    async def work() -> None:
        tenant, key = Budget(a_key(), 6, 1000), Budget(a_key(), 2)
        async with started(url, 1) as limiters:
            states = [await limiters[0].take_both(tenant, key) for _ in range(4)]
        assert [key.accepted for _, key in states] == [True, True, False, False]
        assert [tenant.remaining for tenant, _ in states][:2] == [99, 98]

    in_a_loop(work())


def test_units_that_were_not_sent_count_when_redis_is_killed(server: Redis) -> None:
    async def work() -> None:
        tenant = Budget(a_key(), 600, 10)
        async with started(server.url, 1) as limiters:
            server.kill()
            limiters[0].charge(tenant, 300)
            assert not (await limiters[0].take(tenant)).accepted
            await all_are("local", limiters)
            assert not (await limiters[0].take(tenant)).accepted

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_waiting_requests_of_a_key_are_one_command(
    server: Redis, command: Callable[..., Any]
) -> None:
    async def work() -> None:
        async with started(server.url, 1) as limiters:
            command("CONFIG", "RESETSTAT")
            await take(limiters, 200, 100_000, a_key())
        assert command("INFO", "commandstats")["cmdstat_evalsha"]["calls"] < 10

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_an_exhausted_key_sends_nothing_to_redis(
    server: Redis, command: Callable[..., Any]
) -> None:
    async def work() -> None:
        key = a_key()
        async with started(server.url, 1) as limiters:
            await take(limiters, 4, 2, key)  # 30 s a request
            command("CONFIG", "RESETSTAT")
            for _ in range(50):
                assert not (await limiters[0].take(Budget(key, 2))).accepted
        # A look after the link may fall into it.
        assert command("INFO", "commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"] < 5

    in_a_loop(work())


def test_a_cancelled_request_does_not_affect_others(url: str) -> None:
    async def work() -> None:
        async with started(url, 1) as limiters:
            key = a_key()
            tasks = [asyncio.create_task(limiters[0].take(Budget(key, 9))) for _ in range(3)]
            await asyncio.sleep(0)
            tasks[1].cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[1], asyncio.CancelledError)
        assert [state.remaining for state in done if isinstance(state, RateState)] == [8, 6]

    in_a_loop(work())


def test_a_raised_limit_applies_to_the_next_request(url: str) -> None:
    async def work() -> None:
        async with started(url, 1) as limiters:
            key = a_key()
            began_at = refused_at = time.monotonic()
            assert accepted(await take(limiters, 4, 2, key)) == 2
            # Of the minute that is owed, a request of the new limit takes a second.
            spent_at = asked_at = time.monotonic()
            while not (await limiters[0].take(Budget(key, 60))).accepted:
                refused_at = asked_at
                await asyncio.sleep(0.02)
                asked_at = time.monotonic()
            assert time.monotonic() > began_at + 0.99  # the clock of Redis is another
            assert refused_at < spent_at + 1.05

    in_a_loop(work())


def test_the_budget_recovers_at_the_stated_rate(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spend, delays_s = RedisConnection.spend, cycle([0.0, 0.02])

    async def on_an_uneven_way(link: RedisConnection, spends: Sequence[Spend]) -> list[Spent]:
        await asyncio.sleep(next(delays_s))
        return await spend(link, spends)

    async def work() -> None:
        key, limit, passed = a_key(), 6000, 0
        async with started(url, 1) as limiters:
            begun_at = time.monotonic()
            while accepted(await take(limiters, 300, limit, key)) == 300:
                begun_at = time.monotonic()
            spent_at, asked_at, came_back = time.monotonic(), 0.0, 0
            # Also what came back while this machine stood still is asked for.
            while asked_at < spent_at + 1.5 or came_back == 12:
                await asyncio.sleep(0.002)
                asked_at = time.monotonic()
                came_back = accepted(await take(limiters, 12, limit, key))
                passed += came_back
            per_s = limit / 60
            assert passed >= 0.8 * per_s * (asked_at - spent_at)
            assert passed <= 1.2 * per_s * (time.monotonic() - begun_at)

    monkeypatch.setattr(RedisConnection, "spend", on_an_uneven_way)
    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_keys_in_redis_expire_with_their_debt(server: Redis, command: Callable[..., Any]) -> None:
    async def work() -> None:
        key = a_key()
        async with started(server.url, 1) as limiters:
            await take(limiters, 3, 6, key)
            assert 20_000 < command("PTTL", f"sealdesk:rate:{key}") <= 30_000

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_each_process_has_its_share_when_redis_is_killed(
    server: Redis,
) -> None:
    async def work() -> None:
        key, unseen, limit = a_key(), a_key(), 60
        async with started(server.url) as limiters:
            began_at = time.monotonic()
            for _ in range(10):
                assert accepted(await take(limiters, 3, limit, key)) == 3
            server.kill()
            killed_at = time.monotonic()
            states = await take(limiters, 90, limit, key)
            # A half, of which a little is held back; and a request a second.
            assert 24 <= accepted(states) <= 30 + time.monotonic() - began_at
            anew = accepted(await take(limiters, 90, limit, unseen))
            assert 60 <= anew <= 60 + time.monotonic() - killed_at
            assert time.monotonic() < killed_at + SOON_S
            assert [limiter.mode for limiter in limiters] == ["local"] * NODES
            server.start_again()
            await all_are("shared", limiters)
            # It came back empty; of what was accepted, only what has come back is so once more.
            passed = accepted(await take(limiters, 90, limit, unseen))
            assert passed <= 60 - anew + time.monotonic() - killed_at + 1

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_each_change_is_counted_and_logged_once(server: Redis) -> None:
    async def work() -> None:
        async with started(server.url, 1) as limiters:
            server.kill()
            await take(limiters, 50, 60, a_key())
            await asyncio.sleep(0.6)
            server.start_again()
            await all_are("shared", limiters)
            assert limiters[0].fallbacks == 1

    with captured_logs("sealdesk.rate_limits") as logged:
        in_a_loop(work())
    assert [line["log_level"] for line in logged] == ["info", "warning", "info"]
    assert logged[1]["share"] == "1/1"
    assert logged[1]["cause"].startswith("ConnectionError: ")


@pytest.mark.usefixtures("patient")
def test_a_redis_that_lost_its_data_grants_nothing_twice(
    server: Redis, command: Callable[..., Any]
) -> None:
    async def work() -> None:
        key, limit = a_key(), 600
        async with started(server.url) as limiters:
            began_at = time.monotonic()
            for _ in range(12):
                await take(limiters, 60, limit, key)
            await asyncio.sleep(0.5)  # until each process has to ask Redis again
            command("FLUSHALL")
            passed = accepted(await take(limiters, 700, limit, key))
            # What came back, and a wait's worth that is left out of each debt.
            assert passed <= 10 * (WAIT_S + time.monotonic() - began_at) + 1

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_known_debts_are_sent_to_a_redis_that_restarted_empty(server: Redis) -> None:
    async def work() -> None:
        key = a_key()
        async with started(server.url) as limiters:
            # 30 s a request: none comes back while the test runs.
            assert accepted(await take(limiters[:1], 60, 2, key)) == 2
            server.kill()
            server.start_again()
            await asyncio.sleep(0.6)
            await all_are("shared", limiters)
            assert accepted(await take(limiters[1:], 60, 2, key)) == 0

    in_a_loop(work())


@pytest.mark.parametrize(
    ("harm", "mend", "cause"),
    [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OutOfMemoryError"),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "ReadOnlyError"),
        ("ACL SETUSER default -evalsha", "ACL SETUSER default +evalsha", "NoPermissionError"),
    ],
)
@pytest.mark.usefixtures("patient")
def test_a_redis_that_refuses_writes_counts_as_unavailable(
    server: Redis, command: Callable[..., Any], harm: str, mend: str, cause: str
) -> None:
    async def work() -> None:
        with captured_logs("sealdesk.rate_limits") as logged:
            async with started(server.url) as limiters:
                command(*harm.split())
                assert accepted(await take(limiters, 30, 6, a_key())) == 6
                assert [limiter.mode for limiter in limiters] == ["local"] * NODES
                await asyncio.sleep(0.4)
                command(*mend.split())
                await all_are("shared", limiters)
        warned = [line["cause"] for line in logged if line["log_level"] == "warning"]
        assert len(warned) == NODES
        assert all(text.startswith(f"{cause}: ") and len(text) > 20 for text in warned)

    in_a_loop(work())


def test_a_redis_that_hangs_times_out(server: Redis, command: Callable[..., Any]) -> None:
    async def work() -> None:
        with captured_logs("sealdesk.rate_limits") as logged:
            async with started(server.url) as limiters:
                await all_are("shared", limiters)
                command("CLIENT", "PAUSE", 600_000, "WRITE")
                began_at = time.monotonic()
                assert accepted(await take(limiters, 30, 6, a_key())) == 6
                assert time.monotonic() < began_at + SOON_S
                assert [limiter.mode for limiter in limiters] == ["local"] * NODES
                await asyncio.sleep(0.4)
                command("CLIENT", "UNPAUSE")
                await all_are("shared", limiters)
        warned = [line["cause"] for line in logged if line["log_level"] == "warning"]
        assert len(warned) >= NODES  # one that heard nothing before, for want of a turn, told it
        assert set(warned) == {"TimeoutError: no answer in time"}

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_scripts_that_redis_lost_are_loaded_again(
    server: Redis, command: Callable[..., Any]
) -> None:
    async def work() -> None:
        async with started(server.url) as limiters:
            command("SCRIPT", "FLUSH")
            assert accepted(await take(limiters, 30, 6, a_key())) == 6
            await all_are("shared", limiters)

    in_a_loop(work())


def test_a_server_that_never_responds_does_not_delay_the_start() -> None:
    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def work() -> None:
        listener = await asyncio.start_server(never_answer, "127.0.0.1", free_port())
        port = listener.sockets[0].getsockname()[1]
        began_at = time.monotonic()
        async with started(f"redis://127.0.0.1:{port}", 1) as limiters:
            assert time.monotonic() < began_at + SOON_S
            assert (limiters[0].mode, limiters[0].fallbacks) == ("local", 1)
            assert (await limiters[0].take(Budget(a_key(), 1))).accepted
        listener.close()

    in_a_loop(work())


def test_a_server_that_is_not_redis_counts_as_unavailable() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()
        writer.close()

    async def work() -> None:
        listener = await asyncio.start_server(talk, "127.0.0.1", free_port())
        port = listener.sockets[0].getsockname()[1]
        async with started(f"redis://127.0.0.1:{port}", 1) as limiters:
            assert limiters[0].mode == "local"
        listener.close()

    in_a_loop(work())


@pytest.mark.usefixtures("patient")
def test_a_wrong_password_is_reported_and_not_logged(
    server: Redis, command: Callable[..., Any]
) -> None:
    async def work() -> None:
        url = f"redis://:{PASSWORD}@127.0.0.1:{server.port}/0"
        command("CONFIG", "SET", "requirepass", "another")
        try:
            with captured_logs("sealdesk.rate_limits") as logged:
                async with started(url, 1) as limiters:
                    assert limiters[0].mode == "local"
                    assert PASSWORD not in f"{limiters} {vars(limiters[0])}"
            (line,) = logged
            assert line["cause"].startswith("AuthenticationError: ")
            assert PASSWORD not in str(logged)
        finally:
            command("CONFIG", "SET", "requirepass", "")

    in_a_loop(work())


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{PASSWORD}/x@127.0.0.1:6379",
        f"redis://:{PASSWORD}@127.0.0.1:port",
        f"redis://:{PASSWORD}@127.0.0.1/0?no_such_option=1",
        f"redis://:{PASSWORD}@127.0.0.1/0?db=first",
    ],
)
def test_an_invalid_url_is_refused_and_not_logged(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        SharedLimiter(url, 1, time.monotonic)
    assert "SEALDESK_REDIS_URL" in str(refused.value)
    assert PASSWORD not in str(refused.value)
    assert refused.value.__suppress_context__


class Seconds:
    """A time that a test moves on."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> float:
        return self.now_ms / 1000


def timed_script() -> str:
    """The script as it is, but that it is told the time."""
    timed = redis_connection._SCRIPT.replace("redis.call('TIME')", "{ARGV[6], ARGV[7]}")
    assert timed != redis_connection._SCRIPT
    return timed


@given(
    limit=st.sampled_from([1, 2, 7, 50, 999, 99_999, 100_000]),
    burst_s=st.sampled_from([60, 60, 10]),
    takes=st.lists(
        st.tuples(
            st.sampled_from([0, 0, 1, 3, 600, 999, 8571, 70_000]),
            st.integers(1, 60),
            st.sampled_from([0, 0, 1, 500]),
        ),
        min_size=1,
        max_size=40,
    ),
)
@settings(max_examples=100)
def test_the_script_accepts_the_same_as_one_process(
    limit: int, burst_s: int, takes: list[tuple[int, int, int]]
) -> None:
    clock = Seconds()
    assume(limit * burst_s >= 60)  # one process accepts smaller budgets in turn with others
    alone, wanted, key = RateLimiter(clock), [], f"sealdesk:rate:{a_key()}"
    budget = Budget("key", limit, burst_s)
    with client.Redis.from_url(run_redis_url()) as connection:
        pipeline = connection.pipeline(transaction=False)
        for wait_ms, requests, units in takes:
            clock.now_ms += wait_ms
            states = [alone.take_now(budget) for _ in range(requests)]
            alone.charge(budget, units)
            wanted.append((accepted(states), alone.debt_s(budget.id)))
            counts = (limit, requests, 0, burst_s * 10**6, units)
            seconds, millis = divmod(clock.now_ms, 1000)
            pipeline.eval(timed_script(), 1, key, *counts, seconds, millis * 1000)
        replies = [redis_connection._parse_reply(reply) for reply in pipeline.execute()]
    assert [told.accepted for told in replies] == [count for count, _ in wanted]
    assert [told.debt_s for told in replies] == pytest.approx([debt_s for _, debt_s in wanted])


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_jump_neither_blocks_longer_nor_frees_budget(url: str, hours: int) -> None:
    key = f"sealdesk:rate:{a_key()}"
    now_s = int(time.time())
    with client.Redis.from_url(url) as connection:

        def asked(at_s: int, floor_s: float) -> Spent:
            reply = connection.eval(timed_script(), 1, key, 60, 60, floor_s * 1e6, 60e6, 0, at_s, 0)
            return redis_connection._parse_reply(reply)

        assert asked(now_s, 0).accepted == 60
        jumped_s = now_s + hours * 3600
        # The asking process has a clock of its own, and knows.
        assert asked(jumped_s, PERIOD_S).accepted == 0
        assert asked(jumped_s + 30, 0).accepted == 30
        assert asked(jumped_s + 90, 0).accepted == 60


def test_results_are_in_the_order_of_the_requests(url: str) -> None:
    async def work() -> None:
        keys = [a_key() for _ in range(300)]
        async with redis_connection.Redis(url).connect() as connection:
            spends = [Spend(Budget(key, 60), count, 0.0) for count, key in enumerate(keys)]
            results = await connection.spend(spends)
        assert [result.accepted for result in results] == [min(n, 60) for n in range(300)]

    in_a_loop(work())
