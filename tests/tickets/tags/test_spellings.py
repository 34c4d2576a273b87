"""Tags that look the same are one tag, each written as it was sent."""

import sys
import unicodedata
from urllib.parse import quote

from sealdesk.resources.identity import identity, is_visible
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service

TICKETS = "/api/v1/external/tickets"
_SPELLINGS = ("café vip", "cafe\u0301 vip", "CAFÉ VIP", " café\u00a0 vip ", "ca\u00adfé\u200b vip")


def _found(key: Key, tag: str) -> set[str]:
    return {each["id"] for each in key.get(f"{TICKETS}?tag={quote(tag)}").json()["data"]}


def test_a_tag_is_found_in_any_spelling_and_shown_as_it_was_written(key: Key) -> None:
    tickets = [key.ticket(tags=["new", spelling]) for spelling in _SPELLINGS]
    assert [each["tags"] for each in tickets] == [["new", spelling] for spelling in _SPELLINGS]
    for spelling in _SPELLINGS:
        assert _found(key, spelling) == {each["id"] for each in tickets}
    assert _found(key, "cafe vip") == set()


def test_a_ticket_has_a_tag_once(key: Key) -> None:
    ticket = key.ticket(tags=["vIp", "VIP", "refund"])
    assert ticket["tags"] == ["vIp", "refund"]
    changed = key.patch(f"{TICKETS}/{ticket['id']}", {"tags": ["Refund", "VIP", "vip"]})
    assert changed.json()["data"]["tags"] == ["Refund", "VIP"]
    assert _found(key, "vip") == {ticket["id"]}
    key.patch(f"{TICKETS}/{ticket['id']}", {"tags": []})
    assert _found(key, "vip") == set()


def test_the_tag_of_another_tenant_is_another_tag(service: Service, key: Key) -> None:
    other = service.tenant("Other").key()
    other.ticket(tags=["VIP"])
    assert _found(key, "vip") == set() and len(_found(other, "vip")) == 1


@for_each("text", ["straße", "STRASSE", "Straße ", "stra\u200dße"])
def test_texts_that_look_the_same_have_one_identity(text: str) -> None:
    assert identity(text) == "strasse"


def test_every_format_character_is_invisible() -> None:
    chars = map(chr, range(sys.maxunicode + 1))
    assert [c for c in chars if unicodedata.category(c) == "Cf" and is_visible(c)] == []


@for_each("text", ["", " ", "\n", "\u200b", "\u3164", "\u00ad", "\u2800", "\x01", "\ufe0f\u200d"])
def test_a_text_that_nobody_can_see_is_refused_as_a_tag_a_subject_and_a_name(
    key: Key, text: str
) -> None:
    assert not is_visible(text)
    of = {"email": "invisible@example.com", "name": text}
    ticket = {"subject": "s", "description": "d", "customer": of}
    for field in ({"tags": [text]}, {"subject": text}, {"description": text}):
        assert key.post(TICKETS, ticket | field).status_code == 422
    assert key.post(TICKETS, ticket).json()["data"]["customer"]["name"] is None
