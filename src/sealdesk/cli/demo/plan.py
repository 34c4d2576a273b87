"""What happens in the demo, and when: decided here, done by `demo`."""

import tomllib
from importlib.resources import files
from random import Random
from typing import Any, Literal, NamedTuple

import msgspec

from sealdesk.tickets.types import NewTicket, Priority, Source, TicketCustomer

TICKETS = 320
DAYS = 28  # no longer than events are kept
_RECENT_TICKETS = 12
_RECENT_HOURS = 7
_CUSTOMERS = 110
_SEED = 20417
_MINUTE_US = 60 * 1_000_000
_HOUR_US = 60 * _MINUTE_US
_DAY_US = 24 * _HOUR_US
_SOURCES: tuple[Source, ...] = ("api", "api", "api", "email", "email", "dashboard")

Who = Literal["agent", "customer", "note"]


class Story(msgspec.Struct, frozen=True):
    """One kind of ticket. talk: what is said afterwards, each as `who: text`."""

    subject: str
    description: str
    priority: Priority
    tags: list[str]
    talk: list[str]


class Texts(msgspec.Struct, frozen=True):
    """The file of texts."""

    items: list[str]
    glazes: list[str]
    cities: list[str]
    companies: list[str]
    first_names: list[str]
    last_names: list[str]
    stories: list[Story]


class Opening(NamedTuple):
    """A ticket is opened. ticket: its number in the plan."""

    at_us: int
    ticket: int
    new: NewTicket
    source: Source


class Saying(NamedTuple):
    """Somebody writes a reply, and who answered sets the status."""

    at_us: int
    ticket: int
    who: Who
    text: str


class Move(NamedTuple):
    """An agent sets the status."""

    at_us: int
    ticket: int
    status: Literal["pending", "on_hold", "resolved", "closed"]


Happening = Opening | Saying | Move


class Person(NamedTuple):
    """A customer. company: of the few who buy for one."""

    name: str
    email: str
    company: str | None


def make(now_us: int) -> tuple[list[Person], list[Happening]]:
    """The customers, and what happens in the weeks before `now_us`, in its order.

    Every demo tells the same stories; only the times differ, and the ids and keys they get.
    """
    random = Random(_SEED)  # noqa: S311 - tells stories, makes no secrets
    texts = _texts()
    people = _people(random, texts)
    starts = sorted(_start(random, number, now_us) for number in range(TICKETS))
    happenings: list[Happening] = []
    for number, at_us in enumerate(starts):
        happenings += _ticket(random, texts, people, number, at_us)
    return people, sorted(
        (happening for happening in happenings if happening.at_us < now_us),
        key=lambda happening: happening.at_us,
    )


def _texts() -> Texts:
    text = files("sealdesk.cli.demo").joinpath("stories.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Texts)


def _people(random: Random, texts: Texts) -> list[Person]:
    names = [(first, last) for first in texts.first_names for last in texts.last_names]
    return [
        Person(
            f"{first} {last}",
            f"{first}.{last}@{random.choice(('mail', 'post', 'inbox'))}.test".lower(),
            random.choice(texts.companies) if random.random() < 0.15 else None,
        )
        for first, last in random.sample(names, _CUSTOMERS)
    ]


def _start(random: Random, number: int, now_us: int) -> int:
    """Mostly by day; the first few within the last hours, so that there is something fresh."""
    if number < _RECENT_TICKETS:
        return now_us - random.randrange(2 * _MINUTE_US, _RECENT_HOURS * _HOUR_US)
    midnight = now_us // _DAY_US * _DAY_US - random.randrange(1, DAYS) * _DAY_US
    return midnight + round(min(max(random.gauss(14, 3.5), 0), 23.9) * _HOUR_US)


def _ticket(
    random: Random, texts: Texts, people: list[Person], number: int, at_us: int
) -> list[Happening]:
    story = random.choice(texts.stories)
    # A few customers write often, most of them once.
    person = people[min(int(random.expovariate(4 / _CUSTOMERS)), _CUSTOMERS - 1)]
    order = f"AC-{random.randrange(20_000, 30_000)}"
    words = {
        "item": random.choice(texts.items),
        "glaze": random.choice(texts.glazes),
        "city": random.choice(texts.cities),
        "days": random.randrange(2, 8),
        "order": order,
    }
    new = NewTicket(
        subject=_capital(story.subject.format(**words)),
        description=story.description.format(**words),
        customer=TicketCustomer(person.email, person.name),
        priority=story.priority,
        tags=[*story.tags, "vip"] if person.company else story.tags,
        custom_fields={"order_number": order} if "{order}" in story.subject else None,
        external_id=f"shop-{order}" if random.random() < 0.6 else None,
    )
    opening = Opening(at_us, number, new, random.choice(_SOURCES))
    return [opening, *_talk(random, story, words, opening)]


def _talk(random: Random, story: Story, words: dict[str, Any], opening: Opening) -> list[Happening]:
    """Replies with hours between them; after the last one the ticket is resolved, later closed."""
    at_us, number = opening.at_us, opening.ticket
    fate = random.random()
    if fate < 0.06:
        return []  # nobody has got to it
    if fate < 0.10:
        return [Move(at_us + _HOUR_US, number, "on_hold")]
    happenings: list[Happening] = []
    for place, line in enumerate(story.talk):
        who, _, text = line.partition(": ")
        at_us += round(random.lognormvariate(1.2 if who == "customer" else 0.6, 1.0) * _HOUR_US)
        saying = Saying(at_us, number, msgspec.convert(who, Who), _capital(text.format(**words)))
        happenings.append(saying)
        if place < len(story.talk) - 1 and who != "customer":
            status: Literal["on_hold", "pending"] = "on_hold" if who == "note" else "pending"
            happenings.append(Move(at_us + _MINUTE_US, number, status))
        at_us += 2 * _MINUTE_US
    happenings.append(Move(at_us, number, "resolved"))
    if random.random() < 0.7:
        happenings.append(Move(at_us + 3 * _DAY_US, number, "closed"))
    return happenings


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
