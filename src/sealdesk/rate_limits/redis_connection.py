"""A connection to Redis that runs the rate limit script."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

from redis.asyncio.connection import AbstractConnection, ConnectionPool

from sealdesk.errors import ConfigurationError
from sealdesk.rate_limits.limiter import Budget

# GCRA, as in `limiter.RateLimiter`, for several requests of one budget at once. Debts are durations
# in microseconds, and the time is Redis' own. The script stores the debt and its time: one double
# could not hold a time with the fraction of a microsecond that steps of 60 s / 99,999 need. `floor`
# is the debt that the process knows of; `units` are charged in any case. Neither a clock that is
# set back, a lowered limit nor charged units may block a budget for more than a minute.
_SCRIPT = """
local PERIOD = 60000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local step, count, floor = PERIOD / ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local burst, units = tonumber(ARGV[4]), tonumber(ARGV[5])
local debt = floor
local kept = redis.call('GET', KEYS[1])
if kept then
  local was, at = string.match(kept, '^(%S+) (%S+)$')
  debt = math.max(floor, math.min(was - math.max(now - at, 0), PERIOD))
end
local accepted = math.max(0, math.min(count, math.floor((burst - debt) / step + 1e-6)))
debt = math.min(debt + (accepted + units) * step, PERIOD)
if debt > 0 then
  local value = string.format('%.17g %.0f', debt, now)
  redis.call('SET', KEYS[1], value, 'PX', math.ceil(debt / 1000))
end
return redis.status_reply(string.format('%d %.17g', accepted, debt))
"""
_KEY_FORMAT = "sealdesk:rate:%s"
_US_PER_S = 1e6


class Spend(NamedTuple):
    """Requests of a budget to count. min_debt_s: a lower bound of its debt.

    units: of work, which are charged without a limit.
    """

    budget: Budget
    requests: int
    min_debt_s: float
    units: int = 0


class Spent(NamedTuple):
    """How many of the requests are accepted, and the debt after them."""

    accepted: int
    debt_s: float


# Proves that scripts may write: a full or read-only Redis answers all other commands.
_PROBE = Spend(Budget("probe", 1_000_000), 1, 0.0)


class Redis:
    """The address of Redis. Raises ConfigurationError when the URL is invalid."""

    def __init__(self, url: str) -> None:
        try:
            # The limiter has timeouts of its own: one here would cost a task for every command.
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

    def connect(self) -> "RedisConnection":
        """A new connection, which opens on `async with`."""
        connection: AbstractConnection = self._pool.make_connection()
        return RedisConnection(connection)


class RedisConnection:
    """One connection. All methods raise RedisError or OSError."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection: Any = connection
        self._sha = b""

    async def __aenter__(self) -> "RedisConnection":
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

    async def spend(self, spends: Sequence[Spend]) -> list[Spent]:
        """Send all of them in one pipeline; the results are in their order."""
        connection = self._connection
        # One key per command, so that a proxy may distribute them to several servers.
        await connection.send_packed_command(
            connection.pack_commands(
                (
                    "EVALSHA",
                    self._sha,
                    1,
                    _KEY_FORMAT % budget.id,
                    budget.limit,
                    requests,
                    min_debt_s * _US_PER_S,
                    budget.burst_s * _US_PER_S,
                    units,
                )
                for budget, requests, min_debt_s, units in spends
            )
        )
        return [_parse_reply(await connection.read_response()) for _ in spends]


def _parse_reply(reply: bytes) -> Spent:
    accepted, debt = reply.split()
    return Spent(int(accepted), float(debt) / _US_PER_S)
