"""Creates the demo tenant: a ceramics shop with four weeks of tickets, by the real actions."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys import rules as key_rules
from sealdesk.api_keys import store as key_store
from sealdesk.api_keys.types import ApiKey, CreatedApiKey, NewApiKey
from sealdesk.caller import SYSTEM, Actor, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.customers import actions as customers
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.identity import actions as identity
from sealdesk.identity import store as identity_store
from sealdesk.identity.types import Role, User
from sealdesk.installation.store import notes
from sealdesk.mail.ratings import actions as ratings
from sealdesk.mail.ratings import links
from sealdesk.mail.ratings.types import Rating
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.notifications import store as notifications
from sealdesk.tickets.ticket.store import reads
from sealdesk.tickets.ticket.types import NewReply, NewReplyAuthor, TicketChange
from sealdesk_demo import desk_settings, plan
from sealdesk_demo.plan import OpenTicket, Person, Rate, SetStatus, Step, WriteReply

TENANT_NAME = "Acme Ceramics"
ADMIN = ("Maya Lindgren", "maya@acme-ceramics.test")
AGENT = ("Theo Brandt", "theo@acme-ceramics.test")
KEY_NAME = "Web shop"
_DAY_US = 24 * 3600 * 1_000_000


class NewDemo(NamedTuple):
    """A demo that was just created."""

    key: CreatedApiKey
    ticket_count: int
    reply_count: int
    customer_count: int


class ExistingDemo(NamedTuple):
    """A demo that already exists. key: None when every key has been revoked."""

    tenant_id: str
    key: ApiKey | None


class _Actors(NamedTuple):
    """The callers of the steps. team_ids: by the names of the teams."""

    tenant_id: str
    shop: Caller
    people: tuple[User, User]
    team_ids: Mapping[str, str]
    key_ring: KeyRing


async def find(tx: Tx, now_us: int) -> ExistingDemo | None:
    """Find the demo of this installation by the address of its administrator."""
    admin = await identity_store.find_by_email(tx, ADMIN[1])
    if admin is None:
        return None
    keys = await key_store.list_keys(tx, admin.tenant_id, PageRequest(100, None))
    active = (key for key in reversed(keys) if key_rules.is_active(key, now_us))
    return ExistingDemo(admin.tenant_id, next(active, None))


async def create(
    tx: Tx, *, admin_hash: str, agent_hash: str, key_ring: KeyRing, now_us: int
) -> NewDemo:
    """Create the demo in one transaction."""
    people, steps = plan.make_plan(now_us)
    begin_us = now_us - (plan.DAYS + 1) * _DAY_US
    tenant = await identity.create_tenant(tx, TENANT_NAME, now_us=begin_us)
    # It is no desk with which others share the installation (decision 0136).
    await notes.put_once(tx, "demo", tenant.id, now_us)
    admin = await _create_user(tx, tenant.id, ADMIN, "tenant_admin", admin_hash, begin_us)
    agent = await _create_user(tx, tenant.id, AGENT, "agent", agent_hash, begin_us)
    by_admin = Caller(tenant.id, _actor(admin), frozenset(), "")
    key = await api_keys.create_key(
        tx, by_admin, NewApiKey(KEY_NAME), key_ring=key_ring, now_us=begin_us
    )
    await _add_companies(tx, tenant.id, people, begin_us)
    team_ids = await desk_settings.create(tx, by_admin, [admin.id, agent.id], begin_us)
    shop = Caller(tenant.id, Actor("api_key", key.id, key.name), frozenset(), "")
    actors = _Actors(tenant.id, shop, (agent, admin), team_ids, key_ring)
    await _run_steps(tx, actors, steps)
    for user in (admin, agent):
        yesterday_us = now_us - _DAY_US
        await reads.mark_older_read(tx, tenant.id, user.id, yesterday_us)
        until_id = ids.lowest(yesterday_us)
        await notifications.mark_all_read(tx, tenant.id, user.id, until_id, now_us)
    return NewDemo(
        key,
        sum(isinstance(step, OpenTicket) for step in steps),
        sum(isinstance(step, WriteReply) for step in steps),
        len(
            {step.new.customer.email for step in steps if isinstance(step, OpenTicket)}
            | {person.email for person in people if person.company}
        ),
    )


async def _create_user(
    tx: Tx, tenant_id: str, person: tuple[str, str], role: Role, password_hash: str, now_us: int
) -> User:
    name, email = person
    return await identity.create_user(
        tx,
        tenant_id,
        email=email,
        name=name,
        role=role,
        password_hash=password_hash,
        actor=SYSTEM,
        now_us=now_us,
    )


async def _add_companies(tx: Tx, tenant_id: str, people: list[Person], now_us: int) -> None:
    """Create the customers that buy for a company; tickets create the others."""
    for number, person in enumerate(person for person in people if person.company):
        new = NewCustomer(person.email, person.name, company=person.company)
        await customers.add_customer(tx, tenant_id, new, now_us=now_us + number * 60_000_000)


async def _run_steps(tx: Tx, actors: _Actors, steps: list[Step]) -> None:
    opened: dict[int, str] = {}
    for step in steps:
        if isinstance(step, OpenTicket):
            opened[step.ticket] = await _open_ticket(tx, actors, step)
            continue
        ticket_id = opened[step.ticket]
        # One in five tickets is the administrator's.
        user = actors.people[step.ticket % 5 == 0]
        if isinstance(step, WriteReply):
            await _write_reply(tx, actors, user, ticket_id, step)
        elif isinstance(step, Rate):
            await _rate(tx, actors, ticket_id, step)
        else:
            await _set_status(tx, _caller(user), ticket_id, step)


async def _open_ticket(tx: Tx, actors: _Actors, step: OpenTicket) -> str:
    team_id = desk_settings.team_of(step.new.tags or (), actors.team_ids)
    new = msgspec.structs.replace(step.new, team_id=team_id)
    opened = await tickets.open_ticket(tx, actors.shop, new, source=step.source, now_us=step.at_us)
    return opened.id


async def _set_status(tx: Tx, caller: Caller, ticket_id: str, step: SetStatus) -> None:
    change = TicketChange(status=step.status, assignee_id=caller.actor.id)
    await tickets.change_ticket(tx, caller, ticket_id, change, if_match=None, now_us=step.at_us)


async def _write_reply(
    tx: Tx, actors: _Actors, user: User, ticket_id: str, reply: WriteReply
) -> None:
    if reply.author == "customer":
        caller, author = actors.shop, NewReplyAuthor("customer")
    else:
        caller, author = _caller(user), None
    new = NewReply(reply.text, is_internal=reply.author == "note", author=author)
    await tickets.reply(tx, caller, ticket_id, new, now_us=reply.at_us)


async def _rate(tx: Tx, actors: _Actors, ticket_id: str, step: Rate) -> None:
    opened = links.opened_until(actors.tenant_id, ticket_id, step.at_us)
    given = Rating(step.rating, step.comment)
    await ratings.rate(tx, opened, given, actors.key_ring, step.at_us)


def _caller(user: User) -> Caller:
    return Caller(user.tenant_id, _actor(user), frozenset(), "")


def _actor(user: User) -> Actor:
    return Actor("user", user.id, user.name)
