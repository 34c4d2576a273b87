"""Believable tickets: the same random numbers give the same words."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple, TypeVar

T = TypeVar("T")


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


_FIRST = _list(
    "Ada|Aiko|Amara|Ana|Anton|Aylin|Bela|Björn|Carla|Chidi|Chloé|Dana|Dmitri|Eero|Elif|Emeka|Emil"
    "|Farid|Fatima|Greta|Hana|Hugo|Ines|Ivan|Jana|Jin|Joana|Karim|Kofi|Lena|Leo|Lucía|Maja|Marco"
    "|Maria|Mei|Milan|Nadia|Nils|Noor|Olga|Omar|Petra|Priya|Rafael|Rosa|Samir|Sofia|Tomás|Yusuf"
)
_LAST = _list(
    "Adeyemi|Almeida|Andersson|Bauer|Berg|Castro|Chen|Costa|Demir|Diallo|Dubois|Eriksen|Fischer"
    "|García|Haddad|Hansen|Horvat|Ivanova|Jansen|Kaya|Keller|Kim|Kovács|Laine|Lopes|Mendes|Meyer"
    "|Moreau|Müller|Nakamura|Novak|Okafor|Olsen|Park|Pereira|Petrov|Rossi|Sato|Schmid|Silva|Singh"
    "|Suzuki|Tanaka|Virtanen|Wagner|Weber|Wójcik|Öztürk|Zhang|Ziegler"
)
_THINGS = _list(
    "stoneware bowl set|espresso cups|serving platter|glazed vase|tea pot|dinner plates|planter"
    "|salt cellar|milk jug|butter dish|incense holder|candle stand"
)
_TROUBLES = _list(
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
_TAGS = _list(
    "refund|shipping|damaged|invoice|returns|address|warranty|wholesale|gift|payment|stock|colour"
)
_DOMAINS = ("example.com", "example.net", "example.org", "mail.example", "post.example")


def pick(random: Random, things: Sequence[T]) -> T:
    """One of these; `Random.choice` takes three times as long, and a million tickets need seven."""
    return things[int(random.random() * len(things))]


class Person(NamedTuple):
    """Who writes: a name and an address that nobody else of the tenant has."""

    name: str
    email: str


def person(random: Random, number: int) -> Person:
    """The customer with this running number."""
    first, last = pick(random, _FIRST), pick(random, _LAST)
    domain = pick(random, _DOMAINS)
    ascii_name = f"{first}.{last}".encode("ascii", "ignore").decode().lower()
    return Person(f"{first} {last}", f"{ascii_name}.{number}@{domain}")


def subject(random: Random) -> str:
    return f"The {pick(random, _THINGS)} {pick(random, _TROUBLES)}"


def description(random: Random, order: int) -> str:
    """About 400 bytes."""
    start = int(random.random() * len(_SENTENCES))
    turned = _SENTENCES[start:] + _SENTENCES[:start]
    return f"It is about order {order}, {pick(random, _THINGS)}. {' '.join(turned[:4])}"


def tags(random: Random) -> tuple[str, ...]:
    """None for half of all tickets, otherwise one or two."""
    draw = random.random()
    if draw < 0.5:
        return ()
    start = int(random.random() * (len(_TAGS) - 1))
    return tuple(_TAGS[start : start + (2 if draw > 0.85 else 1)])


def recent(random: Random, count: int) -> int:
    """A place from the end of `count` things, the last ones far more often: 0 is the last."""
    return int(random.random() ** 3 * count)
