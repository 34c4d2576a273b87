"""Functions on foreign input in child processes.

`builtins:eval` is the function of most tests: it runs what they send, as a faulty parser might.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sealdesk.sandbox.pool import Exceeded, Failed, Pool
from sealdesk.sandbox.slots import Crowded

_ENDLESS = b"any(iter(int, 1))"


def _with_pool(test: Callable[[Pool], Awaitable[None]], **options: float) -> None:
    async def run() -> None:
        pool = Pool(**options)  # type: ignore[arg-type]
        try:
            await test(pool)
        finally:
            await pool.close()

    asyncio.run(run())


@contextmanager
def _inheritable_file() -> Iterator[None]:
    with Path(__file__).open() as file:
        os.set_inheritable(file.fileno(), True)
        yield


async def _eval(pool: Pool, source: bytes, cpu_s: float = 5) -> bytes:
    return await pool.run("builtins:eval", source, cpu_s=cpu_s, payer="a tenant")


def test_a_function_gets_bytes_and_gives_bytes() -> None:
    async def test(pool: Pool) -> None:
        large = os.urandom(3_000_000)
        assert await pool.run("builtins:bytes", large, cpu_s=5, payer="a") == large
        assert await pool.run("binascii:hexlify", b"ab", cpu_s=5, payer="a") == b"6162"

    _with_pool(test)


def test_a_child_has_no_environment_and_no_descriptor_but_its_pipes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEALDESK_MASTER_KEY", "secret")

    async def test(pool: Pool) -> None:
        with _inheritable_file():
            found = await _eval(pool, b"repr(dict(__import__('os').environ)).encode()")
            assert b"secret" not in found and b"SEALDESK" not in found
            # /dev/null for what it prints and its own pipe are opened by the child itself.
            names = await _eval(
                pool,
                b"repr([__import__('os').readlink(f'/proc/self/fd/{each}') for each in"
                b" __import__('os').listdir('/proc/self/fd') if int(each) < 50"
                b" and __import__('os').path.exists(f'/proc/self/fd/{each}')]).encode()",
            )
            links = eval(names)  # noqa: S307
            assert all(
                each.startswith(("pipe:", "/dev/null", "/proc/", "socket:")) for each in links
            )

    _with_pool(test)


def test_a_call_beyond_its_processor_time_ends_and_the_next_is_answered() -> None:
    async def test(pool: Pool) -> None:
        with pytest.raises(Exceeded):
            await _eval(pool, _ENDLESS, cpu_s=1)
        assert await _eval(pool, b"b'next'") == b"next"

    _with_pool(test)


def test_a_call_beyond_the_memory_ends_and_the_next_is_answered() -> None:
    async def test(pool: Pool) -> None:
        with pytest.raises(Exceeded):
            await _eval(pool, b"bytes(1 << 40)")
        assert await _eval(pool, b"b'next'") == b"next"

    _with_pool(test)


def test_an_exception_is_told_by_its_class_alone() -> None:
    async def test(pool: Pool) -> None:
        with pytest.raises(Failed) as failed:
            await _eval(pool, b"int('secret')")
        assert str(failed.value) == "ValueError"

    _with_pool(test)


def test_a_child_that_dies_fails_one_call() -> None:
    async def test(pool: Pool) -> None:
        with pytest.raises(Exceeded):
            await _eval(pool, b"__import__('os')._exit(1)")
        assert await _eval(pool, b"b'next'") == b"next"

    _with_pool(test)


def test_what_a_function_prints_is_no_answer() -> None:
    async def test(pool: Pool) -> None:
        assert await _eval(pool, b"print('x' * 100) or b'answer'") == b"answer"

    _with_pool(test)


def test_a_cancelled_call_does_not_answer_the_next() -> None:
    async def test(pool: Pool) -> None:
        call = asyncio.create_task(_eval(pool, b"__import__('time').sleep(60) or b'late'"))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await _eval(pool, b"b'next'") == b"next"

    _with_pool(test, max_processes=1)


def test_a_full_queue_refuses_at_once() -> None:
    async def test(pool: Pool) -> None:
        waiting = [asyncio.create_task(_eval(pool, b"b'x'")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Crowded):
            await _eval(pool, b"b'x'")
        assert await asyncio.gather(*waiting) == [b"x"] * 3

    _with_pool(test, max_processes=1, max_waiting=2)


def test_processes_are_used_again_and_end_when_idle() -> None:
    async def test(pool: Pool) -> None:
        pid = b"str(__import__('os').getpid()).encode()"
        first = await _eval(pool, pid)
        assert pool.idle_count == 1
        for _ in iter(lambda: pool.idle_count, 0):
            await asyncio.sleep(0.01)
        assert await _eval(pool, pid) != first

    _with_pool(test, idle_s=0.05)


def test_a_closed_pool_leaves_no_process() -> None:
    pids = []

    async def test(pool: Pool) -> None:
        pids.append(int(await _eval(pool, b"str(__import__('os').getpid()).encode()")))
        for _ in iter(lambda: pool.idle_count, 0):
            await asyncio.sleep(0)
        await pool.close()

    _with_pool(test, idle_s=0)
    assert not Path(f"/proc/{pids[0]}").exists()
