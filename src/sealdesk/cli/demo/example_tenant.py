"""The demo tenant: a shop for ceramics with some weeks of tickets, made by the real actions."""

from typing import NamedTuple

from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys import rules as key_rules
from sealdesk.api_keys import store as key_store
from sealdesk.api_keys.rules import ApiKey, CreatedApiKey, NewApiKey
from sealdesk.caller import SYSTEM, Actor, Caller
from sealdesk.cli.demo import plan
from sealdesk.cli.demo.plan import Happening, Move, Opening, Person, Saying
from sealdesk.crypto.sealing import KeyRing
from sealdesk.customers import actions as customers
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.identity import actions as identity
from sealdesk.identity import store as identity_store
from sealdesk.identity.rules import Role, User
from sealdesk.paging import PageRequest
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.types import NewReply, NewReplyAuthor, TicketChange

TENANT_NAME = "Acme Ceramics"
ADMIN = ("Maya Lindgren", "maya@acme-ceramics.test")
AGENT = ("Theo Brandt", "theo@acme-ceramics.test")
KEY_NAME = "Web shop"
_DAY_US = 24 * 3600 * 1_000_000


class Made(NamedTuple):
    """What a new demo consists of."""

    key: CreatedApiKey
    ticket_count: int
    reply_count: int
    customer_count: int


class Present(NamedTuple):
    """The demo that an installation already has. key: None when every key was ended."""

    tenant_id: str
    key: ApiKey | None


class _Cast(NamedTuple):
    """Who acts."""

    tenant_id: str
    shop: Caller
    people: tuple[User, User]


async def find(tx: Tx, now_us: int) -> Present | None:
    """The demo of this installation, if it has one: known by its administrator's address."""
    admin = await identity_store.find_by_email(tx, ADMIN[1])
    if admin is None:
        return None
    keys = await key_store.list_keys(tx, admin.tenant_id, PageRequest(100, None))
    live = (key for key in reversed(keys) if key_rules.is_active(key, now_us))
    return Present(admin.tenant_id, next(live, None))


async def fill(tx: Tx, *, admin_hash: str, agent_hash: str, key_ring: KeyRing, now_us: int) -> Made:
    """Make the demo, all of it or nothing."""
    people, happenings = plan.make(now_us)
    begin_us = now_us - (plan.DAYS + 1) * _DAY_US
    tenant = await identity.create_tenant(tx, TENANT_NAME, actor=SYSTEM, now_us=begin_us)
    admin = await _user(tx, tenant.id, ADMIN, "tenant_admin", admin_hash, begin_us)
    agent = await _user(tx, tenant.id, AGENT, "agent", agent_hash, begin_us)
    by_admin = Caller(tenant.id, _actor(admin), frozenset(), "")
    key = await api_keys.create_key(
        tx, by_admin, NewApiKey(KEY_NAME), key_ring=key_ring, now_us=begin_us
    )
    await _add_companies(tx, tenant.id, people, begin_us)
    shop = Caller(tenant.id, Actor("api_key", key.id, key.name), frozenset(), "")
    await _play(tx, _Cast(tenant.id, shop, (agent, admin)), happenings)
    return Made(
        key,
        sum(isinstance(happening, Opening) for happening in happenings),
        sum(isinstance(happening, Saying) for happening in happenings),
        len(
            {h.new.customer.email for h in happenings if isinstance(h, Opening)}
            | {person.email for person in people if person.company}
        ),
    )


async def _user(
    tx: Tx, tenant_id: str, who: tuple[str, str], role: Role, password_hash: str, now_us: int
) -> User:
    name, email = who
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
    """Who buys for a company was a customer before."""
    for number, person in enumerate(person for person in people if person.company):
        new = NewCustomer(person.email, person.name, company=person.company)
        await customers.add_customer(tx, tenant_id, new, now_us=now_us + number * 60_000_000)


async def _play(tx: Tx, cast: _Cast, happenings: list[Happening]) -> None:
    ids: dict[int, str] = {}
    for happening in happenings:
        if isinstance(happening, Opening):
            ids[happening.ticket] = await _open(tx, cast, happening)
            continue
        ticket_id = ids[happening.ticket]
        # One in five tickets is the administrator's.
        user = cast.people[happening.ticket % 5 == 0]
        if isinstance(happening, Saying):
            await _say(tx, cast, user, ticket_id, happening)
        else:
            await _move(tx, _caller(user), ticket_id, happening)


async def _open(tx: Tx, cast: _Cast, opening: Opening) -> str:
    opened = await tickets.open_ticket(
        tx, cast.shop, opening.new, source=opening.source, now_us=opening.at_us
    )
    return opened.id


async def _move(tx: Tx, caller: Caller, ticket_id: str, move: Move) -> None:
    change = TicketChange(status=move.status, assignee_id=caller.actor.id)
    await tickets.change_ticket(tx, caller, ticket_id, change, if_match=None, now_us=move.at_us)


async def _say(tx: Tx, cast: _Cast, user: User, ticket_id: str, saying: Saying) -> None:
    if saying.who == "customer":
        caller, author = cast.shop, NewReplyAuthor("customer")
    else:
        caller, author = _caller(user), None
    new = NewReply(saying.text, is_internal=saying.who == "note", author=author)
    await tickets.reply(tx, caller, ticket_id, new, now_us=saying.at_us)


def _caller(user: User) -> Caller:
    return Caller(user.tenant_id, _actor(user), frozenset(), "")


def _actor(user: User) -> Actor:
    return Actor("user", user.id, user.name)
