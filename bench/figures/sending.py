"""Measures sending by e-mail: messages a second, and how soon a reply is handed over."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.databases import empty
from bench.databases.empty import NewInstallation
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.load.clients import WrongResponse
from bench.load.rounds import POSTGRES_SUFFIX, ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.mail_sink import MailSink, mail_sink
from bench.servers.processes import Cores
from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys.types import NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.cli.installation import Installation, open_database_access
from sealdesk.client import Desk
from sealdesk.db.engine import Tx
from sealdesk.identity import actions as identity
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import NewMailbox
from sealdesk.mail.threads import actions as threads
from sealdesk.settings import Settings, from_env
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.ticket.types import NewReply, NewTicket, TicketCustomer

_MAILBOXES = 10  # each sends 600 a minute at most
_PACED, _EVERY_S = 100, 0.05
_WITHIN_S = 120.0
_PERSON = "ann@customer.example"


class _Round(NamedTuple):
    messages_per_s: float
    delay_ms: float


class _Ticket(NamedTuple):
    """A ticket whose replies are sent. api_key, api_secret: of its tenant."""

    id: str
    api_key: str
    api_secret: str


class _Rounds(NamedTuple):
    """The figures of all rounds, one list each."""

    messages_per_s: list[float]
    delay_ms: list[float]


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure in installations of their own. Raises WrongResponse."""
    return _build_results(_measure_all(plan, empty.on_sqlite(data), show_progress))


def on_postgres(
    plan: Plan, data: Data, postgres: PostgresData, show_progress: ShowProgress
) -> Results:
    """Measure `sealdesk worker` in databases of their own. Raises WrongResponse."""
    with empty.on_postgres(data, postgres) as new_installation:
        rounds = _measure_all(plan, new_installation, show_progress)
    return _build_results(rounds, POSTGRES_SUFFIX)


def not_measured(_plan: Plan) -> Results:
    """The figures on PostgreSQL without values."""
    return _build_results(_Rounds([], []), POSTGRES_SUFFIX)


def _build_results(rounds: _Rounds, suffix: str = "") -> Results:
    rates, delays = rounds
    sent = "messages that one process sends" + suffix
    delay = "commit of a reply to its e-mail, median" + suffix
    return Results(
        [
            Figure(sent, "/s", True, 200, 200, rates),
            Figure(delay, "ms", False, 1000, 1000, delays),
        ],
        {},
    )


def _measure_all(
    plan: Plan, new_installation: NewInstallation, show_progress: ShowProgress
) -> _Rounds:
    rounds = []
    for number in range(1, plan.rounds + 1):
        show_progress(f"messages to a mail server: {number} of {plan.rounds}")
        with new_installation() as env, mail_sink() as sink:
            rounds.append(_measure(env, plan.mail_messages, sink))
    return _Rounds(*map(list, zip(*rounds, strict=True)))


def _measure(env: dict[str, str], count: int, sink: MailSink) -> _Round:
    env = {**env, "SEALDESK_MAIL_ALLOWED_CIDRS": "127.0.0.0/8"}
    settings = from_env(env)
    each = max(1, count // _MAILBOXES)
    made = [_add_replies(settings, sink.port, each) for _ in range(_MAILBOXES)]
    with Cores() as cores, processes.service(settings, cores, env) as service:
        _wait_until(lambda: len(sink.arrived_ns) >= each * _MAILBOXES)
        arrived = sorted(sink.arrived_ns.values())
        elapsed_s = (arrived[-1] - arrived[0]) / 1e9
        delays_ms = [
            _reply(f"http://127.0.0.1:{service.port}", made[number % _MAILBOXES], sink)
            for number in range(min(count, _PACED))
        ]
    return _Round((len(arrived) - 1) / elapsed_s, statistics.median(delays_ms))


def _reply(url: str, ticket: _Ticket, sink: MailSink) -> float:
    """Reply, and wait for the message: how long it took after the response, in ms."""
    time.sleep(_EVERY_S)
    with Desk(ticket.api_key, ticket.api_secret, url) as desk:
        reply = desk.replies.create(ticket.id, body="We are on it.")
        answered_ns = time.monotonic_ns()
    _wait_until(lambda: reply.id in sink.arrived_ns)
    return max(0.0, (sink.arrived_ns[reply.id] - answered_ns) / 1e6)


def _wait_until(is_done: Callable[[], bool]) -> None:
    until_s = time.monotonic() + _WITHIN_S
    while not is_done():
        if time.monotonic() > until_s:
            raise WrongResponse("not all messages were sent")
        time.sleep(0.002)


def _add_replies(settings: Settings, port: int, count: int) -> _Ticket:
    """A tenant with a mailbox, and a ticket with replies that wait to be sent."""
    with open_database_access(settings) as access:
        made = Installation(settings, access)
        now_us = made.clock.now_us()

        tenant = made.write(lambda tx: identity.create_tenant(tx, "Bench", now_us=now_us))

        async def work(tx: Tx) -> _Ticket:
            caller = Caller(tenant.id, SYSTEM, frozenset(), "")
            key = await api_keys.create_key(
                tx, caller, NewApiKey("bench"), key_ring=made.key_ring, now_us=now_us
            )
            mailbox = await mailboxes.create_mailbox(
                tx, caller, _mailbox(tenant.id, port), key_ring=made.key_ring, now_us=now_us
            )
            new = NewTicket("A broken bowl", "It broke.", TicketCustomer(_PERSON, "Ann"))
            ticket = await tickets.open_ticket(tx, caller, new, source="api", now_us=now_us)
            people = [(_PERSON, "Ann")]
            await threads.add_people(tx, tenant.id, ticket.id, mailbox.id, people, now_us)
            for _ in range(count):
                reply = NewReply(body="We have sent two new bowls today.")
                await tickets.reply(tx, caller, ticket.id, reply, now_us=now_us)
            return _Ticket(ticket.id, key.api_key, key.api_secret)

        return made.write(work, tenant.id)


def _mailbox(tenant_id: str, port: int) -> NewMailbox:
    return NewMailbox(
        address=f"desk{tenant_id[-12:]}@desk.example",
        smtp_host="127.0.0.1",
        smtp_port=port,
        smtp_security="none",
        per_minute=600,
    )
