"""Fair turns, with pieces that are counted instead of measured."""

import asyncio
import re
from typing import Any

import httpx
import pytest

from sealdesk.db import threads
from sealdesk.db.deadline import deadline
from sealdesk.server.turns import Turn, Turns
from tests.support.service import Service

_MS = 1_000_000


class Desk:
    """Requests of payers, whose pieces cost what the test says. done: the payer of each piece."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self._now_ns = 0
        self.turns = Turns(lambda: self._now_ns)

    async def request(self, payer: str, pieces: int, piece_ms: float, **fields: Any) -> None:
        scope = {"headers": [], "path": fields.get("path", "/tickets")}
        turn = self.turns.begin("192.0.2.1", scope)
        await turn.pay_as(payer)
        turn.deadline.connections = fields.get("connections", 0)
        try:
            await turn.run(self.work(fields.get("shown", payer), pieces, piece_ms))
        finally:
            turn.end()

    def spend(self, piece_ms: float) -> None:
        self._now_ns += round(piece_ms * _MS)

    async def work(self, shown: str, pieces: int, piece_ms: float) -> None:
        for number in range(pieces):
            if number:
                await asyncio.sleep(0)
            self.done.append(shown)
            self.spend(piece_ms)


def order(*requests: tuple[str, int, float], **fields: Any) -> str:
    """The payers of the pieces, in the order in which they were done; "|" ends an iteration."""
    desk = Desk()

    async def count_iterations() -> None:
        while True:
            await asyncio.sleep(0)
            desk.done.append("|")

    async def main() -> None:
        counting = asyncio.create_task(count_iterations())
        await asyncio.gather(*(desk.request(*request, **fields) for request in requests))
        counting.cancel()

    asyncio.run(main())
    return "".join(desk.done)


@pytest.mark.parametrize(("connections", "piece_ms"), [(0, 0.5), (1, 0.5), (0, 0.02), (1, 0.02)])
def test_many_requests_of_one_payer_have_one_turn_between_them(
    connections: int, piece_ms: float
) -> None:
    requests = *6 * [("a", 4, piece_ms)], ("b", 4, piece_ms)
    done = order(*requests, connections=connections).replace("|", "")
    assert "aa" not in done[done.index("b") : done.rindex("b")]
    assert done.count("a") == 24 and done.count("b") == 4


def test_a_payer_with_long_pieces_waits_until_others_had_as_much() -> None:
    for requests in (1, 2):
        done = order(*requests * [("a", 4, 5.0)], ("b", 70, 0.5)).replace("|", "")
        at = [at for at, payer in enumerate(done) if payer == "a"][-2:]
        assert done.count("a") == 4 * requests
        assert done[at[0] : at[1]].count("b") >= 6


@pytest.mark.parametrize(("piece_ms", "at_once"), [(0.02, 3), (0.5, 1)])
def test_who_is_alone_waits_only_for_the_loop_to_look_for_requests(
    piece_ms: float, at_once: int
) -> None:
    iterations = order(*3 * [("a", 4, piece_ms)]).split("|")
    assert "".join(iterations) == 12 * "a"
    assert max(map(len, iterations)) == at_once


def test_who_was_alone_lets_a_request_that_arrives_go_first() -> None:
    desk = Desk()
    tasks = list[asyncio.Future[None]]()

    def arrive() -> None:  # as the connection does, before the pieces of this iteration
        turn = desk.turns.begin("192.0.2.1", {"headers": [], "path": "/tickets"})
        tasks.append(asyncio.ensure_future(turn.run(desk.work("b", 1, 0.1))))

    async def long_page() -> None:
        asyncio.get_running_loop().call_soon(arrive)
        await desk.work("a", 2, 1.0)

    async def main() -> None:
        turn = desk.turns.begin("192.0.2.2", {"headers": [], "path": "/tickets"})
        await turn.run(long_page())
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert desk.done == ["a", "b", "a"]


def test_requests_of_who_is_alone_go_on_in_the_order_in_which_they_came() -> None:
    desk = Desk()

    async def connection(name: str) -> None:
        for _ in range(12):
            turn = desk.turns.begin("192.0.2.1", {"headers": [], "path": "/tickets"})
            await turn.run(desk.work(name, 1, 0.1))
            turn.end()
            await asyncio.sleep(0)  # the response and the next request

    async def main() -> None:
        await asyncio.gather(*(connection(name) for name in "bcdefgh"))

    asyncio.run(main())
    halfway = desk.done[:42]
    assert all(5 <= halfway.count(name) <= 7 for name in "bcdefgh"), "".join(desk.done)


def test_proven_credentials_do_not_wait_for_others_of_their_network() -> None:
    desk = Desk()

    async def request(key: str, *, proves: bool = False) -> None:
        headers = [(b"x-api-key", key.encode())]
        turn = desk.turns.begin("192.0.2.1", {"headers": headers, "path": "/tickets"})
        if proves:
            await turn.pay_as(key)
        await turn.run(desk.work(key, 1, 0.5))
        turn.end()

    async def main() -> None:
        await request("b", proves=True)
        await asyncio.gather(*(request(key) for key in "aaaaaab"))

    asyncio.run(main())
    assert desk.done.index("b", 1) <= 2


def test_nobody_starves_beside_others_who_always_have_work() -> None:
    done = order(("a", 3, 20.0), *5 * [("b", 200, 0.5)], *5 * [("c", 200, 0.5)]).replace("|", "")
    assert done.count("a") == 3 and done.rindex("a") < len(done) - 100


def test_who_holds_a_connection_and_who_asks_for_the_health_go_first() -> None:
    for fields in ({"connections": 1}, {"path": "/healthz"}):
        desk = Desk()

        async def main(desk: Desk = desk, fields: dict[str, Any] = fields) -> None:
            others = [desk.request(payer, 5, 5.0) for payer in "aaaab"]
            first = desk.request("a", 5, 5.0, shown="first", **fields)
            await asyncio.gather(*others, first)

        asyncio.run(main())
        assert len(desk.done) == 30
        assert [*desk.done[::-1]].index("first") >= 12


def test_a_request_that_is_cancelled_while_it_waits_ends_and_holds_up_nobody() -> None:
    desk = Desk()

    async def main() -> None:
        tasks = [asyncio.create_task(desk.request("a", 3, 5.0)) for _ in range(3)]
        other = asyncio.create_task(desk.request("b", 3, 0.5))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[2].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[2]
        await asyncio.gather(*tasks[:2], other)

    asyncio.run(main())
    assert desk.done.count("a") >= 6 and desk.done.count("b") == 3


def test_pages_and_metrics_say_how_long_requests_held_the_loop_and_threads(
    service: Service,
) -> None:
    typed = {"email": "nobody@example.test", "password": "wrong"}
    site = {"sec-fetch-site": "same-origin"}
    page = httpx.post(f"{service.url}/log-in", data=typed, headers=site, timeout=60)
    shown = re.fullmatch(r"loop;dur=(.+), beside;dur=(.+)", page.headers["server-timing"])
    counted = service.state.metrics.responses.durations["POST /log-in"]
    assert shown and float(shown[1]) > 0 and counted.loop_s > 0
    assert float(shown[2]) > 5 and counted.beside_s > 0.005  # of a password hash


def test_work_in_threads_is_paid_for_like_pieces_in_the_loop() -> None:
    desk = Desk()

    async def work_in_threads() -> None:
        for _ in range(4):
            await asyncio.sleep(0)
            desk.done.append("a")
            threads.charge(5 * _MS)

    async def threaded() -> None:
        turn = desk.turns.begin("192.0.2.1", {"headers": [], "path": "/tickets"})
        await turn.pay_as("a")
        deadline.set(turn.deadline)
        await turn.run(work_in_threads())
        turn.end()

    async def main() -> None:
        await asyncio.gather(threaded(), desk.request("b", 70, 0.5))

    asyncio.run(main())
    at = [at for at, payer in enumerate(desk.done) if payer == "a"][-2:]
    assert desk.done[at[0] : at[1]].count("b") >= 6


def test_a_new_request_of_a_payer_in_debt_does_nothing_before_its_turn() -> None:
    desk = Desk()

    async def one_piece(turn: Turn) -> None:
        await turn.pay_as("a")
        desk.done.append("a")
        desk.spend(5.0)

    async def main() -> None:
        other = asyncio.create_task(desk.request("b", 70, 0.5))
        await asyncio.sleep(0)  # it begins
        for _ in range(4):
            turn = desk.turns.begin("192.0.2.1", {"headers": [], "path": "/tickets"})
            await turn.run(one_piece(turn))
            turn.end()
        await other

    asyncio.run(main())
    at = [at for at, payer in enumerate(desk.done) if payer == "a"][-2:]
    assert desk.done[at[0] : at[1]].count("b") >= 6


@pytest.mark.parametrize(("piece_ms", "is_ended"), [(0.2, False), (0.3, True)])
def test_a_piece_that_has_been_long_ends_where_it_can(piece_ms: float, *, is_ended: bool) -> None:
    desk = Desk()
    turn = desk.turns.begin("192.0.2.1", {"headers": [], "path": "/tickets"})
    done = list[str]()

    async def work() -> None:
        desk.spend(piece_ms)
        await turn.pause()
        done.append("the next")

    async def main() -> None:
        running = asyncio.create_task(run())
        await asyncio.sleep(0)
        assert done == ([] if is_ended else ["the next"])
        await running

    async def run() -> None:
        await turn.run(work())

    asyncio.run(main())
    assert done == ["the next"]
