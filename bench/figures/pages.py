"""Measures pages of the inbox, and how much a browser fetches for them."""

import asyncio
import re
import secrets
import time
from collections.abc import Mapping
from html import unescape
from urllib.parse import urlencode

from bench.databases import cluster, postgres_data, sqlite_data
from bench.databases.build import AGENT_EMAIL
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.figures import search
from bench.figures.figure import Figure, Results
from bench.figures.search import Slowdown
from bench.load.clients import Browser, ExpectedResponse, PageLoad, WrongResponse
from bench.load.requests import Workload
from bench.load.rounds import POSTGRES_PREFIX, POSTGRES_SUFFIX, Rounds, ShowProgress
from bench.load.signer import TICKETS
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server
from sealdesk.caller import SYSTEM
from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.identity import actions as identity
from sealdesk.identity.auth import passwords
from sealdesk.settings import Settings, from_env

_OPEN_TICKETS, _ALL_TICKETS = "/tickets", "/tickets?status=all"
_INBOX_ROW, _ROWS = b"<li data-ticket", 50
# Floor and aim of a page with the filtered views, by the end of a figure's name.
_PAGE_BOUNDS_MS = {"": (6, 4), POSTGRES_SUFFIX: (9, 6)}
_INBOX_NAME = "GET the inbox, one connection"
_KIB = 1024
_VIEWS_NAME = "GET views of the inbox in turn, one connection"
_TICKET_NAME = "GET a ticket, one connection"
_COMPLETE_PAGE = ExpectedResponse(200, b"</html>", 1)
_VIEW_ROW = "<li data-ticket"
_TICKET_LINK = re.compile(r'href="(/tickets/[0-9a-f-]{36})"')


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure on SQLite. Raises WrongResponse."""
    sqlite_data.delete_rows_of_runs(data)
    rounds = Rounds(plan, show_progress)
    with Cores() as cores:
        email, password = set_agent_password(data, {})
        with processes.sealdesk(data.settings, cores) as server:
            browser = Browser(server.port, email, password)
            loads = _measure_first_load(browser)
            slowdowns = _measure_pages(Workload(plan, data), browser, server, rounds, "")
    return Results([*_build_figures(plan, rounds, "", "", slowdowns), *loads], rounds.by_name)


def on_postgres(
    plan: Plan, data: Data, postgres: PostgresData, show_progress: ShowProgress
) -> Results:
    """Measure on PostgreSQL, where a browser fetches the same files. Raises WrongResponse."""
    postgres_data.delete_rows_of_runs(postgres, data)
    with (
        Cores() as cores,
        cluster.running_cluster(postgres.directory, postgres.passwords) as database,
    ):
        env, rounds = database.environment(data), Rounds(plan, show_progress, database.cpu_s)
        email, password = set_agent_password(data, env)
        with processes.sealdesk(data.settings, cores, env) as server:
            browser = Browser(server.port, email, password)
            slowdowns = _measure_pages(
                Workload(plan, data), browser, server, rounds, POSTGRES_PREFIX
            )
    return Results(
        _build_figures(plan, rounds, POSTGRES_PREFIX, POSTGRES_SUFFIX, slowdowns), rounds.by_name
    )


def not_measured(plan: Plan) -> Results:
    """The figures on PostgreSQL without values."""
    return Results(
        _build_figures(plan, Rounds(plan, print), POSTGRES_PREFIX, POSTGRES_SUFFIX, []), {}
    )


def set_agent_password(data: Data, env: Mapping[str, str]) -> tuple[str, str]:
    """Set a new password for the first agent of the big tenant; returns e-mail and password.

    env: names the database if it is not the SQLite file.
    """
    settings = from_env({"SEALDESK_DATA_DIR": str(data.settings.data_dir), **env})
    email, password = AGENT_EMAIL.format(number=0, tenant_number=0), secrets.token_urlsafe(16)
    asyncio.run(_set_password(settings, data.big, email, passwords.hash_now(password)))
    return email, password


async def _set_password(settings: Settings, tenant_id: str, email: str, hashed: str) -> None:
    now_us = time.time_ns() // 1000

    async def update(tx: Tx) -> None:
        user = await identity.get_user_by_email(tx, email)
        await identity.set_password(tx, user, hashed, actor=SYSTEM, address="", now_us=now_us)

    database = open_database(settings, name="bench", has_time=True)
    try:
        await database.write(update, tenant_id)
    finally:
        await database.close()


def _build_figures(
    plan: Plan,
    rounds: Rounds,
    prefix: str,
    suffix: str,
    slowdowns: list[Slowdown],
) -> list[Figure]:
    found_rounds = rounds.by_name.get(prefix + _INBOX_NAME, [])
    name = f"inbox page of {_ROWS} among {plan.big_tickets:,}"
    medians = [round_.p50_ms or 0.0 for round_ in found_rounds]
    tails = [round_.tail for round_ in found_rounds]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, *_PAGE_BOUNDS_MS[suffix], medians),
        Figure(f"{name}, p99 ÷ p50{suffix}", "", False, 3, 3, tails),
        *_build_view_figures(plan, rounds, prefix, suffix),
        *search.build_search_figures(plan, rounds, prefix, suffix, slowdowns),
        *search.build_customer_figures(plan, rounds, prefix, suffix),
    ]


def _measure_first_load(browser: Browser) -> list[Figure]:
    """The first load of the inbox by a browser with an empty cache."""
    loaded = browser.load(_ALL_TICKETS)
    values: Mapping[str, tuple[str, float, float]] = {
        "first load of the inbox": ("KiB", 150, loaded.size / _KIB),
        "requests of the first load": ("", 8, loaded.requests),
        "requests to other sites": ("", 0, len(loaded.other_sites)),
    }
    figures = [
        Figure(name, unit, False, most, most, [value])
        for name, (unit, most, value) in values.items()
    ]
    return [*figures, _measure_opening(browser, loaded)]


def _measure_pages(
    workload: Workload, browser: Browser, server: Server, rounds: Rounds, prefix: str
) -> list[Slowdown]:
    """The newest tickets of the big tenant, the next page, and the open tickets."""
    first = browser.read(_ALL_TICKETS)
    if first.encode().count(_INBOX_ROW) != _ROWS:
        raise WrongResponse(f"the inbox does not show {_ROWS} tickets")
    targets = {
        _INBOX_NAME: _ALL_TICKETS,
        f"{_INBOX_NAME}, older": _get_next_page(first),
        f"{_INBOX_NAME}, open": _OPEN_TICKETS,
    }
    gets = {
        prefix + name: (browser.make_gets(target), _expect_same_rows(browser, target))
        for name, target in targets.items()
    }
    rounds.run_gets(prefix + _INBOX_NAME, server, gets)
    _measure_views(workload, browser, server, rounds, prefix)
    search.measure_customers(workload, browser, server, rounds, prefix)
    return search.measure_search(workload, browser, server, rounds, prefix)


def _expect_same_rows(browser: Browser, target: str) -> ExpectedResponse:
    """The same number of tickets as in a first response."""
    return ExpectedResponse(200, _INBOX_ROW, browser.read(target).encode().count(_INBOX_ROW))


def _get_next_page(page: str) -> str:
    """The URL of the next page. Raises WrongResponse."""
    before, mark, _ = page.partition('" rel="next"')
    if not mark:
        raise WrongResponse("the inbox has no link to the next page")
    return unescape(before.rpartition('"')[2])


def _build_view_figures(plan: Plan, rounds: Rounds, prefix: str, suffix: str) -> list[Figure]:
    """Figures of filtered views, and of a view that begins at an old ticket."""
    found_rounds = rounds.by_name.get(prefix + _VIEWS_NAME, [])
    name = f"views of the inbox by filters, and {plan.depth:,} deep"
    medians, tails = [r.p50_ms or 0.0 for r in found_rounds], [r.tail for r in found_rounds]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, *_PAGE_BOUNDS_MS[suffix], medians),
        Figure(f"{name}, p99 ÷ p50{suffix}", "", False, 3, 3, tails),
    ]


def _measure_opening(browser: Browser, inbox: PageLoad) -> Figure:
    """The requests of a browser that opens a ticket from the inbox."""
    loaded = browser.load(_get_ticket_link(inbox.text), inbox.cached)
    name = "requests to open a ticket from the inbox"
    return Figure(name, "", False, 1, 1, [loaded.requests])


def _measure_views(
    workload: Workload, browser: Browser, server: Server, rounds: Rounds, prefix: str
) -> None:
    """The views of the inbox, and a ticket. Raises WrongResponse."""
    targets = _view_targets(workload, server)
    for target in targets:
        if _VIEW_ROW not in browser.read(target):
            raise WrongResponse(f"{target} shows no ticket")
    ticket = _get_ticket_link(browser.read(targets[0]))
    gets = {
        prefix + name: (browser.make_gets(*page_targets), _COMPLETE_PAGE)
        for name, page_targets in ((_VIEWS_NAME, targets), (_TICKET_NAME, [ticket]))
    }
    rounds.run_gets(prefix + _VIEWS_NAME, server, gets)


def _view_targets(workload: Workload, server: Server) -> list[str]:
    """The URLs of the views: filtered by the values of an old ticket, and beginning at it."""
    deep = workload.read(
        server, f"{TICKETS}?cursor={workload.sample.make_cursor_after(workload.plan.depth)}"
    )
    ticket = next(t for t in deep["data"] if t["tags"] and t["assignee_id"])
    by_assignee = {"assignee": ticket["assignee_id"]}
    filters = [
        {"before": ticket["id"]},
        {"priority": "urgent"},
        by_assignee,
        {"customer": ticket["customer"]["id"]},
        {"tag": ticket["tags"][0]},
        {**by_assignee, "status": "pending"},
        {"assignee": "nobody", "status": "open"},
    ]
    return [f"/tickets?{urlencode({'status': 'all', **view})}" for view in filters]


def _get_ticket_link(page: str) -> str:
    link = _TICKET_LINK.search(page)
    if link is None:
        raise WrongResponse("the inbox has no link to a ticket")
    return link[1]
