"""Fair turns: while others have requests, one payer has one piece of work at a time in the loop.

A piece is what a request does between two awaits. It is measured and charged to whoever the work is
for: the tenant, and before that is known the client's network. Payers take turns by deficit round
robin: a round is one iteration of the event loop, in which each payer without debt does one piece.
Nothing is refused. Who is alone waits for nothing but the next iteration, in which the loop sees
requests that have arrived (decision 0092).
"""

import asyncio
import time
import types
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

from sealdesk.db.deadline import Deadline
from sealdesk.web.request import Scope

# Of debt that a round pays, and of work after which a round ends: a signed GET of 25.
_QUANTUM_NS = 250_000
_MAX_PIECES = 4  # of who is alone, in a round
_MAX_DEBT_NS = 1_000_000_000
_LONG_NS = 250_000  # after which a piece ends where it can
_MAX_PAYERS = 4096
_CREDENTIALS = frozenset((b"x-api-key", b"authorization", b"cookie"))
_URGENT = ("/healthz", "/readyz")


class Payer:
    """Who work is done for.

    requests: in progress. round: in which it did its last piece. parked: requests that wait for the
    payer's turn. holding: those of them that hold a connection, which go first.
    """

    __slots__ = ("debt_ns", "holding", "parked", "requests", "round")

    def __init__(self) -> None:
        self.requests = self.debt_ns = 0
        self.round = -1
        self.parked: deque[asyncio.Future[None]] = deque()
        self.holding: deque[asyncio.Future[None]] = deque()


class Turn:
    """The work of one request. is_urgent: it never waits.

    began_ns: of its last piece. used_ns: by the pieces before. deadline: of the request, which
    knows whether it holds a connection, and the time of its threads. beside_ns: of it, charged.
    """

    __slots__ = (
        "_sender",
        "_turns",
        "began_ns",
        "beside_ns",
        "deadline",
        "is_urgent",
        "payer",
        "used_ns",
    )

    def __init__(self, turns: "Turns", payer: Payer, name: str, sender: int) -> None:
        self._turns = turns
        self._sender = sender
        self.is_urgent = False
        self.payer = payer
        self.began_ns = self.used_ns = self.beside_ns = 0
        self.deadline = Deadline(payer=name)

    @property
    def holds_connection(self) -> bool:
        """Whether others may wait for what it holds: then it waits for no debt."""
        return self.deadline.connections > 0

    @property
    def loop_s(self) -> float:
        """How long the request has held the event loop, the present piece included."""
        return (self.used_ns + self._turns.now_ns() - self.began_ns) / 1e9

    @property
    def beside_s(self) -> float:
        """Processor time of the request's work in threads and child processes, until now."""
        return self.deadline.beside_ns / 1e9

    async def pay_as(self, name: str) -> None:
        """Charge what follows to another payer, once it is the payer's turn."""
        if name == self.deadline.payer:
            return
        self._turns.move(self, name)
        self._turns.recognise(self._sender, name)
        self.deadline.payer = name
        if self._turns.must_wait(self):
            await asyncio.sleep(0)  # `run` goes on in the turn of the payer

    async def pause(self) -> None:
        """End a piece that has been long, so that others can go on before the next one."""
        if self._turns.now_ns() - self.began_ns > _LONG_NS:
            await asyncio.sleep(0)

    def run(self, work: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """Do the work, piece by piece."""
        return self._turns.run(self, work)

    def end(self) -> None:
        """The request is answered."""
        self._turns.end(self)


class Turns:
    """The turns of a process. now_ns: measures the pieces."""

    def __init__(self, now_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self.now_ns = now_ns
        self._payers: dict[str, Payer] = {}
        self._payers_of: dict[int, str] = {}  # names, by the sender that has proven to be theirs
        self._owing: dict[Payer, None] = {}  # with debt or parked requests, in order
        self._busy_count = 0  # payers with requests
        self._round = 0
        self._spent_ns = 0  # since the round began
        self._last_ns = 0  # of the last piece
        self._has_next = False

    def begin(self, network: str, scope: Scope) -> Turn:
        """The turn of a new request, for which the client's network pays.

        Requests with credentials are apart from anonymous ones of the same network. The tenant
        pays at once for credentials that it has proven from this network.
        """
        sender, name = 0, f"open {network}"
        for header, value in scope["headers"]:
            if header in _CREDENTIALS:
                sender = hash((network, value))  # credentials are not kept
                name = self._payers_of.get(sender) or f"known {network}"
                break
        payer = self._payer(name)
        self._enter(payer)
        turn = Turn(self, payer, name, sender)
        turn.is_urgent = scope["path"] in _URGENT
        return turn

    def end(self, turn: Turn) -> None:
        """The request of a turn is answered."""
        self._leave(turn.payer)

    def move(self, turn: Turn, name: str) -> None:
        """Another payer pays for a turn."""
        self._leave(turn.payer)
        turn.payer = self._payer(name)
        self._enter(turn.payer)

    def recognise(self, sender: int, name: str) -> None:
        """Let the payer pay at once for later requests of this sender; 0 is nobody."""
        if len(self._payers_of) >= _MAX_PAYERS:
            self._payers_of.clear()
        if sender:
            self._payers_of[sender] = name

    def must_wait(self, turn: Turn) -> bool:
        """Whether others go first: other payers, who came before, or who just arrives."""
        if self._spent_ns > _QUANTUM_NS:
            return not turn.is_urgent
        if self._busy_count > 1:
            return not self._may_go(turn)
        return bool(turn.payer.parked or turn.payer.holding) and not turn.is_urgent

    @types.coroutine
    def run(self, turn: Turn, work: Coroutine[Any, Any, None]) -> Generator[Any, None, None]:
        """Run the work of a request piece by piece, each in its turn."""
        resume: Callable[[Any], Any] = work.send
        value: Any = None
        now_ns = self.now_ns
        while True:
            if self.must_wait(turn):
                try:
                    yield from self._park(turn)
                except BaseException as error:
                    resume, value = work.throw, error
            turn.began_ns = now_ns()
            try:
                awaited = resume(value)
            except StopIteration:
                return
            finally:
                used_ns = now_ns() - turn.began_ns
                turn.used_ns += used_ns
                self._spent_ns += used_ns
                self._last_ns = used_ns
                beside_ns = turn.deadline.beside_ns
                self._charge(turn.payer, used_ns + beside_ns - turn.beside_ns)
                turn.beside_ns = beside_ns
            try:
                yield awaited
                resume, value = work.send, None
            except BaseException as error:
                resume, value = work.throw, error

    def _payer(self, name: str) -> Payer:
        payer = self._payers.get(name)
        if payer is None:
            if len(self._payers) >= _MAX_PAYERS:
                self._payers = {k: each for k, each in self._payers.items() if each.requests}
            payer = self._payers[name] = Payer()
        return payer

    def _enter(self, payer: Payer) -> None:
        payer.requests += 1
        self._busy_count += payer.requests == 1

    def _leave(self, payer: Payer) -> None:
        payer.requests -= 1
        self._busy_count -= payer.requests == 0

    def _may_go(self, turn: Turn) -> bool:
        payer = turn.payer
        if turn.is_urgent:
            return True
        if payer.round == self._round or payer.holding:
            return False
        return turn.holds_connection or not (payer.debt_ns or payer.parked)

    def _charge(self, payer: Payer, used_ns: int) -> None:
        payer.round = self._round
        # Who is alone owes their last piece only, to somebody whose request arrives meanwhile.
        debt_ns = payer.debt_ns if self._busy_count > 1 else 0
        payer.debt_ns = min(debt_ns + used_ns, _MAX_DEBT_NS)
        self._owing[payer] = None
        self._begin_round_later()

    def _park(self, turn: Turn) -> Generator[Any, None, None]:
        future = asyncio.get_running_loop().create_future()
        payer = turn.payer
        parked = payer.holding if turn.holds_connection else payer.parked
        parked.append(future)
        self._owing[payer] = None
        self._begin_round_later()
        try:
            yield from future
        except BaseException:
            if future in parked:
                parked.remove(future)
            raise

    def _begin_round_later(self) -> None:
        if not self._has_next:
            self._has_next = True
            asyncio.get_running_loop().call_soon(self._begin_round)

    def _begin_round(self) -> None:
        self._has_next = False
        self._round += 1
        paid_ns = _QUANTUM_NS if self._spent_ns else self._least_debt_ns()
        self._spent_ns = 0
        for payer in [*self._owing]:
            payer.debt_ns = max(0, payer.debt_ns - paid_ns)
            for _ in range(self._pieces_of_a_round()):
                self._wake(payer)
            if not (payer.parked or payer.holding or payer.debt_ns):
                del self._owing[payer]
        if any(payer.parked or payer.holding for payer in self._owing):
            self._begin_round_later()

    def _pieces_of_a_round(self) -> int:
        """How many requests of a payer go on: of who is alone more, if the last piece was short."""
        if self._busy_count > 1:
            return 1
        return max(1, min(_MAX_PIECES, _QUANTUM_NS // max(1, self._last_ns)))

    def _least_debt_ns(self) -> int:
        """What lets the first who waits go on, when nobody had work in a whole round."""
        waiting = [payer.debt_ns for payer in self._owing if payer.parked]
        return max(_QUANTUM_NS, min(waiting, default=0))

    def _wake(self, payer: Payer) -> None:
        """Let the payer do its next piece, if it has paid or holds what others wait for."""
        parked = payer.holding if payer.holding or payer.debt_ns else payer.parked
        while parked:
            future = parked.popleft()
            if not future.done():
                payer.round = self._round
                future.set_result(None)
                return
