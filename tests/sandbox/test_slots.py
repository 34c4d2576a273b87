"""Which payer's call gets the next free process."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from sealdesk.sandbox.slots import Crowded, Slots


class _Calls:
    """Calls of payers, named by payer and number, as in "a1"; entered: in the order of slots."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.entered: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, *names: str) -> None:
        for name in names:
            self._tasks[name] = asyncio.create_task(self._enter(name))
            await asyncio.sleep(0)

    async def end(self, *names: str) -> None:
        for name in names:
            self._slots.leave(name[0])
            await asyncio.sleep(0)

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])

    async def refused(self) -> list[str]:
        await asyncio.sleep(0)
        done = {name: task for name, task in self._tasks.items() if task.done()}
        return [
            name
            for name, task in done.items()
            if not task.cancelled() and isinstance(task.exception(), Crowded)
        ]

    async def _enter(self, name: str) -> None:
        await self._slots.enter(name[0])
        self.entered.append(name)

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def _with_calls(
    test: Callable[[_Calls], Awaitable[None]], count: int = 2, max_waiting: int = 6
) -> None:
    async def main() -> None:
        calls = _Calls(Slots(count, max_waiting))
        try:
            await test(calls)
        finally:
            await calls.close()

    asyncio.run(main())


def test_a_payer_alone_has_all_slots_but_the_one_that_is_kept_for_others() -> None:
    async def test(calls: _Calls) -> None:
        await calls.ask("a1", "a2", "a3")
        assert calls.entered == ["a1", "a2"]
        await calls.ask("b1")
        assert calls.entered == ["a1", "a2", "b1"]

    _with_calls(test)


def test_payers_that_wait_take_turns() -> None:
    async def test(calls: _Calls) -> None:
        await calls.ask("a1", "a2", "c1")
        await calls.ask("a3", "a4", "b1", "b2")
        await calls.end("a1", "a2", "c1", "b1", "a3")
        assert calls.entered[3:] == ["b1", "a3", "b2", "a4"]

    _with_calls(test)


def test_when_too_many_wait_whoever_has_most_waiting_loses_the_last() -> None:
    async def test(calls: _Calls) -> None:
        await calls.ask("a1", "a2", "c1", "a3", "a4", "a5")
        await calls.ask("b1")
        assert await calls.refused() == ["a5"]
        await calls.ask("a6")
        assert await calls.refused() == ["a5", "a6"]
        await calls.end("a1")
        assert calls.entered[3:] == ["b1"]
        await calls.end("b1", "c1")
        assert calls.entered[4:] == ["a3"]

    _with_calls(test, max_waiting=3)


@pytest.mark.parametrize("has_its_turn", [False, True])
def test_a_cancelled_call_keeps_no_slot(has_its_turn: bool) -> None:
    async def test(calls: _Calls) -> None:
        await calls.ask("a1", "a2", "c1", "b1", "b2")
        if has_its_turn:
            calls._slots.leave("a")  # b1 has its slot, and does not know yet
        await calls.cancel("b1")
        await calls.end("c1", *(() if has_its_turn else ("a1",)))
        assert "b2" in calls.entered and "b1" not in calls.entered

    _with_calls(test)
