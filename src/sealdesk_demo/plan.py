"""The plan of the demo: its customers and steps, which `example_tenant` carries out."""

import tomllib
from importlib.resources import files
from random import Random
from typing import Any, Literal, NamedTuple

import msgspec

from sealdesk.tickets.ticket.types import NewTicket, Priority, Source, TicketCustomer

TICKETS = 320
DAYS = 28  # at most the retention of events
_RECENT_TICKETS = 12
_RECENT_HOURS = 7
_CUSTOMERS = 110
_SEED = 20417
_MINUTE_US = 60 * 1_000_000
_HOUR_US = 60 * _MINUTE_US
_DAY_US = 24 * _HOUR_US
CARRIERS = ("DHL", "UPS", "DPD")
# A third of the solved tickets are rated, with these in turn.
_RATINGS = (
    (5, "Quick and kind, thank you."),
    (4, ""),
    (5, ""),
    (3, "It took two days to get an answer."),
    (5, "The new bowl is even nicer."),
    (5, ""),
    (2, "I had to ask twice."),
    (4, "All good."),
)
_SOURCES: tuple[Source, ...] = ("api", "api", "api", "email", "email", "dashboard")

Author = Literal["agent", "customer", "note"]


class Story(msgspec.Struct, frozen=True):
    """A template for tickets. replies: the replies that follow, each as `author: text`."""

    subject: str
    description: str
    priority: Priority
    tags: list[str]
    replies: list[str]


class Texts(msgspec.Struct, frozen=True):
    """The content of stories.toml."""

    items: list[str]
    glazes: list[str]
    cities: list[str]
    companies: list[str]
    first_names: list[str]
    last_names: list[str]
    stories: list[Story]


class OpenTicket(NamedTuple):
    """A customer opens a ticket. ticket: its index in the plan."""

    at_us: int
    ticket: int
    new: NewTicket
    source: Source


class WriteReply(NamedTuple):
    """A customer or an agent writes a reply."""

    at_us: int
    ticket: int
    author: Author
    text: str


class SetStatus(NamedTuple):
    """An agent sets the status of a ticket."""

    at_us: int
    ticket: int
    status: Literal["pending", "on_hold", "resolved", "closed"]


class Rate(NamedTuple):
    """A customer rates a solved ticket."""

    at_us: int
    ticket: int
    rating: int
    comment: str


Step = OpenTicket | WriteReply | SetStatus | Rate


class Person(NamedTuple):
    """A customer. company: for the few customers that buy for a company."""

    name: str
    email: str
    company: str | None


def make_plan(now_us: int) -> tuple[list[Person], list[Step]]:
    """Return the customers, and the steps before `now_us` in order of time.

    Every demo has the same texts; only times, ids and keys differ.
    """
    random = Random(_SEED)  # noqa: S311 - makes example texts, not secrets
    texts = _load_texts()
    people = _make_customers(random, texts)
    starts = sorted(_opening_time(random, number, now_us) for number in range(TICKETS))
    steps: list[Step] = []
    for number, at_us in enumerate(starts):
        steps += _ticket(random, texts, people, number, at_us)
    return people, sorted(
        (step for step in steps if step.at_us < now_us), key=lambda step: step.at_us
    )


def _load_texts() -> Texts:
    text = files("sealdesk_demo").joinpath("stories.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Texts)


def _make_customers(random: Random, texts: Texts) -> list[Person]:
    names = [(first, last) for first in texts.first_names for last in texts.last_names]
    return [
        Person(
            f"{first} {last}",
            f"{first}.{last}@{random.choice(('mail', 'post', 'inbox'))}.test".lower(),
            random.choice(texts.companies) if random.random() < 0.15 else None,
        )
        for first, last in random.sample(names, _CUSTOMERS)
    ]


def _opening_time(random: Random, number: int, now_us: int) -> int:
    """Return a time mostly by day; the first few tickets are from the last hours."""
    if number < _RECENT_TICKETS:
        return now_us - random.randrange(2 * _MINUTE_US, _RECENT_HOURS * _HOUR_US)
    midnight = now_us // _DAY_US * _DAY_US - random.randrange(1, DAYS) * _DAY_US
    return midnight + round(min(max(random.gauss(14, 3.5), 0), 23.9) * _HOUR_US)


def _ticket(
    random: Random, texts: Texts, people: list[Person], number: int, at_us: int
) -> list[Step]:
    story = random.choice(texts.stories)
    # A few customers write often, most write once.
    person = people[min(int(random.expovariate(4 / _CUSTOMERS)), _CUSTOMERS - 1)]
    order = f"AC-{random.randrange(20_000, 30_000)}"
    values = {
        "item": random.choice(texts.items),
        "glaze": random.choice(texts.glazes),
        "city": random.choice(texts.cities),
        "days": random.randrange(2, 8),
        "order": order,
    }
    new = NewTicket(
        subject=_capitalise(story.subject.format(**values)),
        description=story.description.format(**values),
        customer=TicketCustomer(person.email, person.name),
        priority=story.priority,
        tags=[*story.tags, "vip"] if person.company else story.tags,
        custom_fields=_custom_fields(story, order, number),
        external_id=f"shop-{order}" if random.random() < 0.6 else None,
    )
    opened = OpenTicket(at_us, number, new, random.choice(_SOURCES))
    return [opened, *_conversation(random, story, values, opened)]


def _custom_fields(story: Story, order: str, number: int) -> dict[str, Any] | None:
    if "{order}" not in story.subject:
        return None
    sent = {"carrier": CARRIERS[number % 3]} if "shipping" in story.tags else {}
    return {"order_number": order, **sent}


def _conversation(
    random: Random, story: Story, values: dict[str, Any], opened: OpenTicket
) -> list[Step]:
    """Return replies hours apart; after the last one the ticket is resolved and may be closed."""
    at_us, number = opened.at_us, opened.ticket
    outcome = random.random()
    if outcome < 0.06:
        return []  # no agent has replied yet
    if outcome < 0.10:
        return [SetStatus(at_us + _HOUR_US, number, "on_hold")]
    steps: list[Step] = []
    for index, line in enumerate(story.replies):
        author, _, text = line.partition(": ")
        at_us += round(random.lognormvariate(1.2 if author == "customer" else 0.6, 1.0) * _HOUR_US)
        reply = WriteReply(
            at_us, number, msgspec.convert(author, Author), _capitalise(text.format(**values))
        )
        steps.append(reply)
        if index < len(story.replies) - 1 and author != "customer":
            status: Literal["on_hold", "pending"] = "on_hold" if author == "note" else "pending"
            steps.append(SetStatus(at_us + _MINUTE_US, number, status))
        at_us += 2 * _MINUTE_US
    steps.append(SetStatus(at_us, number, "resolved"))
    if number % 3 == 0:
        given = _RATINGS[number // 3 % len(_RATINGS)]
        steps.append(Rate(at_us + 6 * _HOUR_US, number, *given))
    if random.random() < 0.7:
        steps.append(SetStatus(at_us + 3 * _DAY_US, number, "closed"))
    return steps


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
