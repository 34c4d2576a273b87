"""A bounded pool of child processes: started when first needed, ended when idle."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable

from sealdesk.sandbox.protocol import REQUEST, RESPONSE, Kind
from sealdesk.sandbox.slots import Slots

# Beyond it nobody waits for the processor but for something else, on a machine ten times slower.
_WALL_FACTOR = 30.0
_PIECE_BYTES = 64 * 1024
_MAX_PROCESSES = 2  # and one more for those who have none
_MAX_WAITING = 64
_IDLE_S = 30.0


class Exceeded(Exception):
    """The function used more processor time or memory than it may; its process has ended."""


class Failed(Exception):
    """The function raised an exception; the message is the name of its class."""


class Pool:
    """Runs functions in child processes, one call at a time in each, with turns by payer."""

    def __init__(
        self,
        *,
        max_processes: int = _MAX_PROCESSES,
        max_waiting: int = _MAX_WAITING,
        idle_s: float = _IDLE_S,
    ) -> None:
        self._slots = Slots(max_processes, max_waiting)
        self._idle_s = idle_s
        self._idle: list[_Child] = []
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def idle_count(self) -> int:
        """The number of processes that wait for work."""
        return len(self._idle)

    async def run(self, function: str, data: bytes, *, cpu_s: float, payer: str) -> bytes:
        """What a function returns for bytes.

        function: "module:name", a constant of the code; it takes bytes and returns bytes. cpu_s:
        processor time that it may use. payer: the tenant, or the network of a stranger. Raises
        Exceeded, Failed, Crowded.
        """
        await self._slots.enter(payer)
        try:
            return await self._run(function, data, cpu_s)
        finally:
            self._slots.leave(payer)

    async def _run(self, function: str, data: bytes, cpu_s: float) -> bytes:
        child = self._idle.pop() if self._idle else await _Child.start()
        child.stop_waiting()
        try:
            async with asyncio.timeout(cpu_s * _WALL_FACTOR):
                kind, result = await child.call(function, data, cpu_s)
        except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            await child.kill()
            raise Exceeded from error
        except BaseException:  # a cancelled call leaves half an answer in the pipe
            await child.kill()
            raise
        self._idle.append(child)
        child.wait_for_work(self._idle_s, self._end_idle)
        if kind == Kind.OUT_OF_MEMORY:
            raise Exceeded
        if kind == Kind.FAILED:
            raise Failed(result.decode())
        return result

    def _end_idle(self, child: "_Child") -> None:
        if child in self._idle:
            self._idle.remove(child)
            ending = asyncio.create_task(child.kill())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the processes that wait for work, those that are ending included."""
        while self._idle:
            child = self._idle.pop()
            child.stop_waiting()
            await child.kill()
        await asyncio.gather(*self._ending)


class _Child:
    """One process and its pipes."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls) -> "_Child":
        # -I: neither the caller's variables nor its directory choose what is imported.
        command = (sys.executable, "-I", "-m", "sealdesk.sandbox.child")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={}, close_fds=True
        )
        return cls(process)

    async def call(self, function: str, data: bytes, cpu_s: float) -> tuple[Kind, bytes]:
        to_child, from_child = self._process.stdin, self._process.stdout
        if to_child is None or from_child is None:
            raise OSError("the process has no pipes")
        name = function.encode()
        to_child.write(REQUEST.pack(cpu_s, len(name), len(data)) + name)
        # In pieces, since the transport copies what the pipe does not take at once.
        for start in range(0, len(data), _PIECE_BYTES):
            to_child.write(memoryview(data)[start : start + _PIECE_BYTES])
            await to_child.drain()
        kind, length = RESPONSE.unpack(await from_child.readexactly(RESPONSE.size))
        return Kind(kind), await from_child.readexactly(length)

    def wait_for_work(self, idle_s: float, on_idle: "Callable[[_Child], None]") -> None:
        self._timer = asyncio.get_running_loop().call_later(idle_s, on_idle, self)

    def stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
