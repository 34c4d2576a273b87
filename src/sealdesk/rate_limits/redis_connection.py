"""Redis as the limiter speaks to it: one connection, one script."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

from redis.asyncio.connection import AbstractConnection, ConnectionPool

from sealdesk.errors import ConfigurationError

# GCRA, as in `limits.RateLimiter`, for several requests of one key at once. Debts are durations,
# in microseconds; only this script knows the time, and only Redis' own. What is kept is the debt
# and when it was so: one number could not hold an instant to a fraction of a microsecond, which
# is what steps of 60 s / 99,999 need. `floor` is what the asking process knows of the debt.
# A clock that is put back, and a limit that is lowered, must not block a key for over a minute.
_SCRIPT = """
local PERIOD = 60000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local step, count, floor = PERIOD / ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local debt = floor
local kept = redis.call('GET', KEYS[1])
if kept then
  local was, at = string.match(kept, '^(%S+) (%S+)$')
  debt = math.max(floor, math.min(was - math.max(now - at, 0), PERIOD))
end
local accepted = math.min(count, math.floor((PERIOD - debt) / step + 1e-6))
debt = debt + accepted * step
if debt > 0 then
  local value = string.format('%.17g %.0f', debt, now)
  redis.call('SET', KEYS[1], value, 'PX', math.ceil(debt / 1000))
end
return redis.status_reply(string.format('%d %.17g', accepted, debt))
"""
_KEY = "sealdesk:rate:%s"
_PER_S = 1e6


class Spend(NamedTuple):
    """So many requests of a key. floor_s: the least that its debt can be."""

    key_id: str
    limit: int
    requests: int
    floor_s: float


class Told(NamedTuple):
    """How many of them are accepted, and the debt then."""

    accepted: int
    debt_s: float


# Proves that a script may write: a full or read-only Redis answers everything else well.
_PROBE = Spend("probe", 1_000_000, 1, 0.0)


class Redis:
    """Where Redis is. Raises Unfit when the URL does not say it."""

    def __init__(self, url: str) -> None:
        try:
            # Time is kept by who asks: a timeout here would cost a task for every command.
            pool: Any = ConnectionPool.from_url(url, socket_timeout=None, protocol=2)
            pool.make_connection()
        except (ValueError, TypeError):
            # The cause may quote a part of the password.
            raise ConfigurationError(
                "SEALDESK_REDIS_URL cannot be read; it must be like"
                " redis://user:password@host:6379/0, without unknown options, and with special"
                " characters of the password percent-encoded"
            ) from None
        self._pool = pool

    def link(self) -> "Link":
        """A new connection, to be entered."""
        connection: AbstractConnection = self._pool.make_connection()
        return Link(connection)


class Link:
    """One connection. Everything about it raises RedisError or OSError."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection: Any = connection
        self._sha = b""

    async def __aenter__(self) -> "Link":
        try:
            await self._connection.connect()
            await self._connection.send_command("SCRIPT", "LOAD", _SCRIPT)
            self._sha = await self._connection.read_response()
            await self.probe()
        except BaseException:
            await self._connection.disconnect(nowait=True)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._connection.disconnect(nowait=True)

    async def probe(self) -> None:
        await self.spend([_PROBE])

    async def spend(self, spends: Sequence[Spend]) -> list[Told]:
        """Ask for all of them in one go; the answers come in their order."""
        connection = self._connection
        # One key a command, so that a proxy may spread them over several servers.
        await connection.send_packed_command(
            connection.pack_commands(
                ("EVALSHA", self._sha, 1, _KEY % key_id, limit, requests, floor_s * _PER_S)
                for key_id, limit, requests, floor_s in spends
            )
        )
        return [_told(await connection.read_response()) for _ in spends]


def _told(reply: bytes) -> Told:
    accepted, debt = reply.split()
    return Told(int(accepted), float(debt) / _PER_S)
