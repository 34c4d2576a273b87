"""The throughput of two server processes over one, when neither machine nor database limits."""

from collections.abc import Mapping
from contextlib import ExitStack

from bench import quota, servers
from bench.data import Data
from bench.results import POSTGRES
from bench.rounds import Rounds
from bench.servers import Cores, Server
from bench.work import PAGE, Work

_GET = f"{POSTGRES}GET 25 tickets"
PLAYERS = (f"{_GET}, two processes with a CPU quota", f"{_GET}, one with a CPU quota")
# Of the servers' core for each process, so that two leave most of it idle, and the database, which
# shares the other core with the client, has time for both.
_SHARE = 0.2
_ENV = {"SEALDESK_PER_PROCESS_LIMITS": "accept"}


class _Several:
    """Server processes over which the load is spread."""

    def __init__(self, started: list[Server]) -> None:
        self._servers = started

    @property
    def port(self) -> list[int]:
        return [server.port for server in self._servers]

    def cpu_s(self) -> float:
        return sum(server.cpu_s() for server in self._servers)


def two_processes(
    work: Work, data: Data, env: Mapping[str, str], cores: Cores, rounds: Rounds
) -> None:
    """Signed pages of 25, from two processes and from one. Raises NoQuota."""
    players = {}
    with ExitStack() as stack:
        for name, count in zip(PLAYERS, (2, 1), strict=True):
            started = [
                stack.enter_context(servers.sealdesk(data.settings, cores, {**env, **_ENV}))
                for _ in range(count)
            ]
            stack.enter_context(quota.limited([server.pid for server in started], _SHARE))
            players[name] = rounds.load(_Several(started), work.first_page, PAGE)
        rounds.take_turns("processes", players)
