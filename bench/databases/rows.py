"""Generates the rows of the tenants, as the stores of the service would write them."""

from array import array
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from sealdesk import ids
from sealdesk.customers import store as customers
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Params, Tx
from sealdesk.db.sqlite.transaction import drive
from sealdesk.tickets.ticket import rules
from sealdesk.tickets.ticket.store import tickets
from sealdesk.tickets.ticket.types import PRIORITIES, Priority, Status, Ticket

HOUR_US = 3600 * 1_000_000
SPAN_US = 2 * 365 * 24 * HOUR_US
_CHUNK_TICKETS = 4_000
Statements = dict[str, list[Params]]
T = TypeVar("T")


class TenantToFill(msgspec.Struct, frozen=True):
    """A tenant, its agents, and the number of tickets to generate."""

    id: str
    agents: tuple[str, ...]
    tickets: int


class Chunk(msgspec.Struct, frozen=True):
    """Rows as statement → list of parameters, and the number of tickets among them."""

    tickets: int
    statements: Statements


class Recorder:
    """Stands in for a transaction, and collects the statements instead of running them."""

    def __init__(self) -> None:
        self.statements: Statements = {}

    async def execute(self, sql: str, params: Params) -> int:
        self.statements.setdefault(sql, []).append(params)
        return 1

    async def execute_one(self, sql: str, params: Params) -> None:
        await self.execute(sql, params)

    async def enqueue(self, sql: str, params: Params) -> None:
        await self.execute(sql, params)


def generate_chunks(tenants: Sequence[TenantToFill], until_us: int, seed: int) -> Iterator[Chunk]:
    """All tickets of the two years before `until_us`, oldest first, with tenants in random order.

    Each ticket comes with a new customer. Half of the tickets are from that customer, the others
    from an earlier one.
    """
    random = Random(seed)
    order = array("B", (index for index, t in enumerate(tenants) for _ in range(t.tickets)))
    random.shuffle(order)
    generators = [_TicketGenerator(tenant, random) for tenant in tenants]
    step_us = SPAN_US // len(order)
    recorder = Recorder()
    for index, tenant_index in enumerate(order):
        created_at = until_us - SPAN_US + index * step_us + int(random.random() * step_us)
        generators[tenant_index].write_ticket(recorder, created_at, until_us)
        if (index + 1) % _CHUNK_TICKETS == 0:
            yield Chunk(_CHUNK_TICKETS, recorder.statements)
            recorder = Recorder()
    yield Chunk(len(order) % _CHUNK_TICKETS, recorder.statements)


class _TicketGenerator:
    """Generates the tickets and customers of one tenant."""

    def __init__(self, tenant: TenantToFill, random: Random) -> None:
        self._tenant = tenant
        self._random = random
        self._customers: list[str] = []
        self._added = 0
        self._last_number = 0

    def write_ticket(self, recorder: Recorder, created_at: int, until_us: int) -> None:
        random = self._random
        self._last_number += 1
        order = 10_000 + self._last_number
        ticket = Ticket(
            tenant_id=self._tenant.id,
            id=ids.mint(created_at),
            number=self._last_number,
            subject=make_subject(random),
            description=(description := make_description(random, order)),
            priority=_pick_priority(random),
            source="api",
            customer_id=self._pick_customer(recorder, created_at),
            tags=pick_tags(random),
            custom_fields={"order": order, "channel": "web"} if random.random() < 0.3 else {},
            external_id=f"order-{order}" if random.random() < 0.3 else None,
            reply_count=0,
            created_at=created_at,
            first_response_at=None,
            last_customer_reply_at=None,
            last_message_at=created_at,
            snippet=rules.snippet(description),
            **self._make_state(created_at, until_us),
        )
        drive(tickets.add(cast(Tx, recorder), ticket))

    def _pick_customer(self, recorder: Recorder, created_at: int) -> str:
        earlier, new = self._customers, self._add_customer(recorder, created_at)
        if earlier and self._random.random() < 0.5:
            return earlier[-1 - pick_recent_index(self._random, len(earlier))]
        earlier.append(new)
        return new

    def _add_customer(self, recorder: Recorder, created_at: int) -> str:
        person = make_person(self._random, self._added)
        self._added += 1
        customer = Customer(
            tenant_id=self._tenant.id,
            id=ids.mint(created_at),
            email=person.email,
            name=person.name,
            phone=None,
            company=None,
            external_id=None,
            metadata={},
            created_at=created_at,
            updated_at=created_at,
            version=1,
        )
        drive(customers.add(cast(Tx, recorder), customer))
        return customer.id

    def _make_state(self, created_at: int, until_us: int) -> dict[str, Any]:
        """Status, assignee and times of a ticket: most are closed after two months, a few never."""
        status = _pick_status(self._random, until_us - created_at)
        changed_at = created_at + int(
            self._random.random() * min(60 * HOUR_US, until_us - created_at)
        )
        is_open = status == "open"
        return {
            "status": status,
            "assignee_id": None if is_open else pick_one(self._random, self._tenant.agents),
            "updated_at": created_at if is_open else changed_at,
            "resolved_at": changed_at if status in ("resolved", "closed") else None,
            "closed_at": changed_at if status == "closed" else None,
            "waiting_since": None if status in ("resolved", "closed") else created_at,
            "version": 1 if is_open else 2,
        }


def _pick_priority(random: Random) -> Priority:
    return pick_one(random, PRIORITIES) if random.random() < 0.5 else "medium"


def _pick_status(random: Random, age_us: int) -> Status:
    chance = random.random()
    if chance < (0.4 if age_us < 60 * 24 * HOUR_US else 0.01):
        return "open"
    if chance < 0.5:
        return "resolved" if age_us < 60 * 24 * HOUR_US else "closed"
    if chance < 0.52:
        return "pending"
    return "on_hold" if chance < 0.53 else "closed"


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


_FIRST = _split(
    "Ada|Aiko|Amara|Ana|Anton|Aylin|Bela|Björn|Carla|Chidi|Chloé|Dana|Dmitri|Eero|Elif|Emeka|Emil"
    "|Farid|Fatima|Greta|Hana|Hugo|Ines|Ivan|Jana|Jin|Joana|Karim|Kofi|Lena|Leo|Lucía|Maja|Marco"
    "|Maria|Mei|Milan|Nadia|Nils|Noor|Olga|Omar|Petra|Priya|Rafael|Rosa|Samir|Sofia|Tomás|Yusuf"
)


_LAST = _split(
    "Adeyemi|Almeida|Andersson|Bauer|Berg|Castro|Chen|Costa|Demir|Diallo|Dubois|Eriksen|Fischer"
    "|García|Haddad|Hansen|Horvat|Ivanova|Jansen|Kaya|Keller|Kim|Kovács|Laine|Lopes|Mendes|Meyer"
    "|Moreau|Müller|Nakamura|Novak|Okafor|Olsen|Park|Pereira|Petrov|Rossi|Sato|Schmid|Silva|Singh"
    "|Suzuki|Tanaka|Virtanen|Wagner|Weber|Wójcik|Öztürk|Zhang|Ziegler"
)


_PRODUCTS = _split(
    "stoneware bowl set|espresso cups|serving platter|glazed vase|tea pot|dinner plates|planter"
    "|salt cellar|milk jug|butter dish|incense holder|candle stand"
)


_PROBLEMS = _split(
    "arrived cracked|has not arrived|is the wrong colour|was charged twice|has a chipped rim"
    "|does not fit the lid|was left with a neighbour|shows as cancelled|came without its box"
    "|needs a new invoice"
)


_SENTENCES = (
    "The parcel itself looked fine from outside, so it must have happened before it was packed.",
    "I have attached photos of the damage and of the label with the tracking number.",
    "The tracking page has said the same thing for five days and the courier does not answer.",
    "We would rather have a replacement than a refund, because it is a present.",
    "Could you also confirm which address the order was sent to, as we moved last month.",
    "I already wrote on Monday from my other address but never got an answer.",
    "My bank shows two payments of the same amount on the same evening.",
    "If this is not in stock any more, the blue one of the same size would be all right.",
    "Please tell me whether I have to send the broken pieces back and who pays for that.",
    "This is the second time in a year, although the last time it was solved within a day.",
    "The invoice must show our company's name and tax number, otherwise we cannot book it.",
    "It is not urgent, but I would like to know before the end of the month.",
)


_TAGS = _split(
    "refund|shipping|damaged|invoice|returns|address|warranty|wholesale|gift|payment|stock|colour"
)


_DOMAINS = ("example.com", "example.net", "example.org", "mail.example", "post.example")


def pick_one(random: Random, options: Sequence[T]) -> T:
    """Pick an element: `Random.choice` takes three times as long, and a ticket needs seven."""
    return options[int(random.random() * len(options))]


class Person(NamedTuple):
    """A customer: a name, and an e-mail address that is unique within the tenant."""

    name: str
    email: str


def make_person(random: Random, number: int) -> Person:
    """The customer with this running number."""
    first, last = pick_one(random, _FIRST), pick_one(random, _LAST)
    domain = pick_one(random, _DOMAINS)
    ascii_name = f"{first}.{last}".encode("ascii", "ignore").decode().lower()
    return Person(f"{first} {last}", f"{ascii_name}.{number}@{domain}")


def make_subject(random: Random) -> str:
    return f"The {pick_one(random, _PRODUCTS)} {pick_one(random, _PROBLEMS)}"


def make_description(random: Random, order: int) -> str:
    """About 400 bytes."""
    start = int(random.random() * len(_SENTENCES))
    sentences = _SENTENCES[start:] + _SENTENCES[:start]
    return f"It is about order {order}, {pick_one(random, _PRODUCTS)}. {' '.join(sentences[:4])}"


def pick_tags(random: Random) -> tuple[str, ...]:
    """No tag for half of all tickets, otherwise one or two."""
    chance = random.random()
    if chance < 0.5:
        return ()
    start = int(random.random() * (len(_TAGS) - 1))
    return tuple(_TAGS[start : start + (2 if chance > 0.85 else 1)])


def pick_recent_index(random: Random, count: int) -> int:
    """An index from the end of `count` elements, mostly among the last ones; 0 is the last."""
    return int(random.random() ** 3 * count)
