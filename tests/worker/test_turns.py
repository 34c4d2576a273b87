"""Tenants have the worker by turns, by the time that their work took, which is counted here."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import pytest

from sealdesk.clock import Clock
from sealdesk.errors import ServiceUnavailable
from sealdesk.state import AppState
from sealdesk.worker import stepper
from sealdesk.worker.stepper import Stepper
from sealdesk.worker.turns import LeastServed


def _turns(count: int, took_s: Mapping[str, float], served: LeastServed) -> str:
    turns = ""
    for _ in range(count):
        turns += (tenant := served.choose([*took_s]))
        served.charge(tenant, took_s[tenant])
    return turns


def test_who_takes_longer_has_fewer_turns() -> None:
    turns = _turns(66, {"a": 5.0, "b": 0.5}, LeastServed())
    assert turns[:12] == "abbbbbbbbbba" and turns.count("a") == 6


def test_a_tenant_that_comes_later_has_not_saved_time_up() -> None:
    served = LeastServed()
    _turns(100, {"a": 1.0}, served)
    assert _turns(6, {"a": 1.0, "b": 1.0}, served) == "ababab"
    _turns(100, {"b": 1.0}, served)
    assert sorted(_turns(6, {"a": 1.0, "b": 1.0}, served)) == [*"aaabbb"]


class _Work:
    """Steps of tenants, each of which takes as long as the test says. done: whose they were."""

    def __init__(self, took_s: Mapping[str, float], result: Callable[[str], int]) -> None:
        self.done = ""
        self.postponed = ""
        self.clock = Clock()
        self.database = self
        self._took_s = took_s
        self._result = result
        self._now_s = 0.0

    def perf_counter(self) -> float:
        return self._now_s

    async def read(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await work(self)

    write_in_background = read

    async def set_tenant(self, _: str) -> None:
        pass

    async def list_tenants(self, _tx: object, _now_us: int, _limit: int) -> list[str]:
        return [*self._took_s]

    async def run_step(self, _tx: object, tenant_id: str, _now_us: int) -> int:
        self.done += tenant_id
        self._now_s += self._took_s[tenant_id]
        return self._result(tenant_id)

    async def postpone(self, _tx: object, tenant_id: str, _now_us: int) -> None:
        self.postponed += tenant_id

    def take(self, count: int) -> str:
        """So many steps; whose they were."""
        steps = Stepper("work", self.list_tenants, self.run_step, self.postpone)

        async def main() -> None:
            for _ in range(count):
                try:
                    await steps.step(cast(AppState, self))
                except ServiceUnavailable:
                    continue

        asyncio.run(main())
        return self.done


def _fail(tenant_id: str) -> int:
    if tenant_id == "a":
        raise ServiceUnavailable
    return 1


@pytest.mark.parametrize(
    ("took_s", "result", "shares"),
    [
        ({"a": 0.1, "b": 0.1, "c": 0.1}, lambda _: 1, (3, 3, 3)),
        ({"a": 0.8, "b": 0.1, "c": 0.1}, lambda _: 1, (1, 4, 4)),
        ({"a": 0.001, "b": 0.1, "c": 0.1}, lambda tenant: tenant != "a", (1, 4, 4)),
        ({"a": 0.001, "b": 0.1, "c": 0.1}, _fail, (1, 4, 4)),
    ],
    ids=["alike", "long steps", "nothing to do", "failing"],
)
def test_steps_of_tenants_take_turns_by_their_time(
    monkeypatch: pytest.MonkeyPatch,
    took_s: Mapping[str, float],
    result: Callable[[str], int],
    shares: tuple[int, ...],
) -> None:
    work = _Work(took_s, result)
    monkeypatch.setattr(stepper, "time", work)
    done = work.take(9)
    assert tuple(map(done.count, "abc")) == shares
    assert work.postponed == ("a" if result is _fail else "")
