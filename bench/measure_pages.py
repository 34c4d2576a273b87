"""Measures pages of the inbox, and how much a browser fetches for them."""

import asyncio
import re
import secrets
import time
from collections.abc import Mapping
from html import unescape
from urllib.parse import urlencode

from bench import cluster, measure_search, servers
from bench.build import AGENT_EMAIL
from bench.clients import Browser, ExpectedResponse, PageLoad, WrongResponse
from bench.data import Data
from bench.measure_search import Slowdown
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.requests import TICKETS, Workload
from bench.rounds import POSTGRES_PREFIX, POSTGRES_SUFFIX, Figure, Results, Rounds, ShowProgress
from bench.servers import Cores, Server
from sealdesk.caller import SYSTEM
from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.identity import actions as identity
from sealdesk.identity.auth import passwords
from sealdesk.settings import Settings, from_env

_OPEN_TICKETS, _ALL_TICKETS = "/tickets", "/tickets?status=all"
_INBOX_ROW, _ROWS = b"<li data-ticket", 50
_INBOX_NAME = "GET the inbox, one connection"
_KIB = 1024
_VIEWS_NAME = "GET views of the inbox in turn, one connection"
_TICKET_NAME = "GET a ticket, one connection"
_COMPLETE_PAGE = ExpectedResponse(200, b"</html>", 1)
_VIEW_ROW = "<li data-ticket"
_TICKET_LINK = re.compile(r'href="(/tickets/[0-9a-f-]{36})"')


def on_sqlite(plan: Plan, data: Data, say: ShowProgress) -> Results:
    """Raises WrongResponse when any answer is not what it must be."""
    rounds = Rounds(plan, say)
    with Cores() as cores:
        email, password = set_agent_password(data, {})
        with servers.sealdesk(data.settings, cores) as server:
            agent = Browser(server.port, email, password)
            loads = _measure_first_load(agent)
            beside = _measure_pages(Workload(plan, data), agent, server, rounds, "")
    return Results([*_build_figures(plan, rounds, "", "", beside), *loads], rounds.kept)


def on_postgres(plan: Plan, data: Data, stored: PostgresData, say: ShowProgress) -> Results:
    """Raises WrongResponse. What a browser fetches is the same there."""
    with Cores() as cores, cluster.running_cluster(stored.directory, stored.passwords) as database:
        env, rounds = database.environment(data), Rounds(plan, say, database.cpu_s)
        email, password = set_agent_password(data, env)
        with servers.sealdesk(data.settings, cores, env) as server:
            agent = Browser(server.port, email, password)
            beside = _measure_pages(Workload(plan, data), agent, server, rounds, POSTGRES_PREFIX)
    return Results(
        _build_figures(plan, rounds, POSTGRES_PREFIX, POSTGRES_SUFFIX, beside), rounds.kept
    )


def not_measured(plan: Plan, reason: str) -> Results:
    """The figures on PostgreSQL without values."""
    return Results(
        _build_figures(plan, Rounds(plan, print), POSTGRES_PREFIX, POSTGRES_SUFFIX, [], reason), {}
    )


def set_agent_password(data: Data, env: Mapping[str, str]) -> tuple[str, str]:
    """Give the big tenant's first agent a new password; address and password.

    env: names the database, where it is not the file.
    """
    settings = from_env({"SEALDESK_DATA_DIR": str(data.settings.data_dir), **env})
    email, password = AGENT_EMAIL.format(number=0, place=0), secrets.token_urlsafe(16)
    asyncio.run(_set_password(settings, data.big, email, passwords.hash_now(password)))
    return email, password


async def _set_password(settings: Settings, tenant_id: str, email: str, hashed: str) -> None:
    now_us = time.time_ns() // 1000

    async def work(tx: Tx) -> None:
        user = await identity.get_user_by_email(tx, email)
        await identity.set_password(tx, user, hashed, actor=SYSTEM, address="", now_us=now_us)

    database = open_database(settings, name="bench", has_time=True)
    try:
        await database.write(work, tenant_id)
    finally:
        await database.close()


def _build_figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, beside: list[Slowdown], lacking: str = ""
) -> list[Figure]:
    kept = rounds.kept.get(prefix + _INBOX_NAME, [])
    name = f"inbox page of {_ROWS} among {plan.big_tickets:,}"
    medians = [round_.p50_ms or 0.0 for round_ in kept]
    tails = [round_.tail for round_ in kept]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 15, 15, medians, lacking),
        Figure(f"{name}, p99 ÷ p50{suffix}", "", False, 3, 3, tails, lacking),
        *_build_view_figures(plan, rounds, prefix, suffix, lacking),
        *measure_search.build_search_figures(plan, rounds, prefix, suffix, beside, lacking),
        *measure_search.build_customer_figures(plan, rounds, prefix, suffix, lacking),
    ]


def _measure_first_load(agent: Browser) -> list[Figure]:
    """The first load of the inbox by a browser that knows nothing of it."""
    loaded = agent.load(_ALL_TICKETS)
    values: Mapping[str, tuple[str, float, float]] = {
        "first load of the inbox": ("KiB", 120, loaded.size / _KIB),
        "requests of the first load": ("", 8, loaded.requests),
        "requests to other sites": ("", 0, len(loaded.foreign)),
    }
    figures = [
        Figure(name, unit, False, most, most, [value])
        for name, (unit, most, value) in values.items()
    ]
    return [*figures, _measure_opening(agent, loaded)]


def _measure_pages(
    work: Workload, agent: Browser, server: Server, rounds: Rounds, prefix: str
) -> list[Slowdown]:
    """The big tenant's newest tickets; for the record the page behind, and the open ones."""
    first = agent.read(_ALL_TICKETS)
    if first.encode().count(_INBOX_ROW) != _ROWS:
        raise WrongResponse(f"the inbox does not show {_ROWS} tickets")
    targets = {
        _INBOX_NAME: _ALL_TICKETS,
        f"{_INBOX_NAME}, older": _find_next_page(first),
        f"{_INBOX_NAME}, open": _OPEN_TICKETS,
    }
    players = {
        prefix + name: rounds.load(
            server, agent.gets(target), _expect_same_rows(agent, target), connections=1
        )
        for name, target in targets.items()
    }
    rounds.take_turns(prefix + _INBOX_NAME, players)
    _measure_views(work, agent, server, rounds, prefix)
    measure_search.measure_customers(work, agent, server, rounds, prefix)
    return measure_search.measure_search(work, agent, server, rounds, prefix)


def _expect_same_rows(agent: Browser, target: str) -> ExpectedResponse:
    """As many tickets as a look at the page has shown."""
    return ExpectedResponse(200, _INBOX_ROW, agent.read(target).encode().count(_INBOX_ROW))


def _find_next_page(page: str) -> str:
    """The address of the page behind. Raises WrongResponse."""
    before, mark, _ = page.partition('" rel="next"')
    if not mark:
        raise WrongResponse("the inbox leads to no older tickets")
    return unescape(before.rpartition('"')[2])


def _build_view_figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, lacking: str = ""
) -> list[Figure]:
    """Of views by one filter, by two, and far behind."""
    kept = rounds.kept.get(prefix + _VIEWS_NAME, [])
    name = f"views of the inbox by filters, and {plan.depth:,} deep"
    medians, tails = [r.p50_ms or 0.0 for r in kept], [r.tail for r in kept]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 15, 15, medians, lacking),
        Figure(f"{name}, p99 ÷ p50{suffix}", "", False, 3, 3, tails, lacking),
    ]


def _measure_opening(agent: Browser, inbox: PageLoad) -> Figure:
    """What a browser that shows the inbox fetches to show a ticket of it."""
    loaded = agent.load(_find_ticket_link(inbox.text), inbox.kept)
    name = "requests to open a ticket from the inbox"
    return Figure(name, "", False, 1, 1, [loaded.requests])


def _measure_views(
    work: Workload, agent: Browser, server: Server, rounds: Rounds, prefix: str
) -> None:
    """The views, and for the record a ticket. Raises WrongResponse."""
    targets = _view_targets(work, server)
    for target in targets:
        if _VIEW_ROW not in agent.read(target):
            raise WrongResponse(f"{target} shows no ticket")
    ticket = _find_ticket_link(agent.read(targets[0]))
    players = {
        prefix + name: rounds.load(server, agent.gets(*asked), _COMPLETE_PAGE, connections=1)
        for name, asked in ((_VIEWS_NAME, targets), (_TICKET_NAME, [ticket]))
    }
    rounds.take_turns(prefix + _VIEWS_NAME, players)


def _view_targets(work: Workload, server: Server) -> list[str]:
    """What agents look at: by a ticket that was answered long ago, and from it on."""
    deep = work.read(server, f"{TICKETS}?cursor={work.sample.cursor_after(work.plan.depth)}")
    ticket = next(t for t in deep["data"] if t["tags"] and t["assignee_id"])
    mine = {"assignee": ticket["assignee_id"]}
    filters = [
        {"before": ticket["id"]},
        {"priority": "urgent"},
        mine,
        {"customer": ticket["customer"]["id"]},
        {"tag": ticket["tags"][0]},
        {**mine, "status": "pending"},
        {"assignee": "nobody", "status": "open"},
    ]
    return [f"/tickets?{urlencode({'status': 'all', **wanted})}" for wanted in filters]


def _find_ticket_link(page: str) -> str:
    found = _TICKET_LINK.search(page)
    if found is None:
        raise WrongResponse("the inbox leads to no ticket")
    return found[1]
