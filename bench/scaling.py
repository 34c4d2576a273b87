"""What a second worker process brings, when neither the machine nor the database is the limit."""

from collections.abc import Mapping
from contextlib import ExitStack

from bench import quota, servers
from bench.data import Data
from bench.results import POSTGRES
from bench.rounds import Rounds
from bench.servers import Cores
from bench.work import PAGE, Work

_GET = f"{POSTGRES}GET 25 tickets"
PLAYERS = (f"{_GET}, two workers with a CPU quota", f"{_GET}, one with a CPU quota")
# Of the servers' core for each worker, so that two leave most of it idle, and the database, which
# shares the other core with the client, has time for both.
_SHARE = 0.2
_ENV = {"SEALDESK_PER_PROCESS_LIMITS": "accept"}


def two_workers(
    work: Work, data: Data, env: Mapping[str, str], cores: Cores, rounds: Rounds
) -> None:
    """Signed pages of 25, from two processes and from one. Raises NoQuota."""
    players = {}
    with ExitStack() as stack:
        for name, count in zip(PLAYERS, (2, 1), strict=True):
            serving = servers.sealdesk(data.settings, cores, {**env, **_ENV}, workers=count)
            server = stack.enter_context(serving)
            stack.enter_context(quota.limited(server.workers(count), _SHARE))
            players[name] = rounds.load(server, work.first_page, PAGE)
        rounds.take_turns("workers", players)
