"""Customers are found by the beginnings of their words, as they are now, on both databases."""

import re
import unicodedata
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.customers import actions as customers
from sealdesk.customers.types import Customer, NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.search import rules
from sealdesk.search.store import lookup
from sealdesk.search.store.customers import CUSTOMERS
from sealdesk.worker.indexer import update_indexes
from tests.support.client import Key
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.examples import examples
from tests.support.hostile import HOSTILE_QUERIES
from tests.support.plans import plan
from tests.support.searching import find_customers, restart_rebuild, wait_until_customers
from tests.support.service import Service, Tenant, wait_until

_API = "/api/v1/external/customers/{}"
_NAMES = (
    "Maria", "Márta", "MARCO", "Lindgren", "Lind", "Linda", "Müller", "Straße", "O'Neil", "Ann-Lee",
    "Zoë", "Björn", "Åse", "退款", "Иван",
)  # fmt: skip
_DOMAINS = ("example.com", "mail.example.net", "lind.example")


def add(tenant: Tenant, news: list[NewCustomer]) -> list[Customer]:
    """All of them at once, the oldest first."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> list[Customer]:
        return [
            await customers.add_customer(tx, tenant.id, new, now_us=now_us + place)
            for place, new in enumerate(news)
        ]

    return tenant.service.write(work)


def test_a_customer_is_found_by_prefixes_of_their_fields(tenant: Tenant, key: Key) -> None:
    maria = key.customer(
        "m.berg@pottery.example",
        name="María Lindgren",
        company="Öztürk & Söhne 김철수",
        phone="+46 (0)8-123 45",
        external_id="C-1042",
    )["id"]
    key.customer("else@where.example", name="Marlene", company="Linden", phone="+46 9")
    wait_until_customers(tenant, "pottery", maria)
    for question in (
        "maria lindgren", "mar lindg", "LINDG MAR", "maría", "oztu soh", "Özt", "m.be", "berg@pot",
        "m.berg@pottery.example", "mar pott", "4608123", "+46 (0)8", "c-1042", "1042 mari",
        "mar mar lindgren", "8 123", "철수",
    ):  # fmt: skip
        assert find_customers(tenant, question) == [maria], question
    for question in ("aria", "indgren", "ottery", "maria nobody", "lindgrens", "2345", "@", ""):
        assert find_customers(tenant, question) == [], question


def test_a_changed_customer_is_found_only_by_the_new_values(tenant: Tenant, key: Key) -> None:
    known = {"name": "Old Name", "phone": "4711", "company": "Oldest", "external_id": "o-1"}
    one = key.customer("old@oldies.example", **known)["id"]
    wait_until_customers(tenant, "old", one)
    # Twice: the first may be heard of with the event of the creation, which comes as late.
    for change in ({"name": "Between"}, {"email": "new@example.test", **dict.fromkeys(known)}):
        answer = key.patch(_API.format(one), change)
        assert answer.status_code == 200, answer.text
        wait_until_customers(tenant, "new" if "email" in change else "between", one)
    for question in ("old", "between", "4711", "oldest", "o", "oldies"):
        assert find_customers(tenant, question) == [], question


def test_another_tenants_customers_are_not_found(
    service: Service, tenant: Tenant, key: Key
) -> None:
    other = service.tenant()
    same = {"name": f"Same {tenant.id} {other.id}"}
    ours = key.customer("ours@example.test", **same)["id"]
    theirs = other.key().customer("theirs@example.test", **same)["id"]
    wait_until_customers(tenant, "same", ours)
    wait_until_customers(other, "same", theirs)
    assert find_customers(tenant, "theirs") == []
    assert find_customers(tenant, f"same {other.id}") == [ours]


def _plain_words(text: str) -> set[str]:
    """Another way to the words than the service's, for the letters of these names."""
    decomposed = unicodedata.normalize("NFD", text.replace("ß", "ss").lower())
    plain = re.sub("[\u0300-\u036f]", "", decomposed)
    return {*re.findall(r"[a-z0-9\u0430-\u044f]+|[退款]", plain)}


def _has(customer: Customer, question: str) -> bool:
    known = (customer.name, customer.email, customer.company, customer.phone, customer.external_id)
    words = _plain_words(" ".join(each for each in known if each))
    words.add("".join(_plain_words(customer.phone or "")) if customer.phone else "")
    return all(any(word.startswith(wanted) for word in words) for wanted in _plain_words(question))


def _some_customers(random: Random) -> list[NewCustomer]:
    def some(*texts: str) -> str | None:
        return random.choice((None, *texts))

    return [
        NewCustomer(
            email=f"c{number}.{random.choice(('maria', 'ann', 'lind'))}@{random.choice(_DOMAINS)}",
            name=some(" ".join(random.sample(_NAMES, 2)), random.choice(_NAMES)),
            company=some(*_NAMES[3:7]),
            phone=some(str(random.randrange(1, 40)), "49"),
            external_id=some(f"M-{number}"),
        )
        for number in range(40)
    ]


def test_the_index_finds_the_same_customers_as_a_full_scan(tenant: Tenant) -> None:
    made = add(tenant, _some_customers(Random(7)))
    wait_until_customers(tenant, "c", *(customer.id for customer in reversed(made)))
    beginnings = sorted({
        word[:length]
        for text in (*_NAMES, *_DOMAINS, "c1", "c39", "M-3", "49", "1", "x")
        for word in text.split("@")
        for length in (1, 2, 3, 9)
    })  # fmt: skip

    @settings(max_examples=examples(10), deadline=None)
    @given(st.lists(st.sampled_from(beginnings), min_size=1, max_size=3))
    def check(words: list[str]) -> None:
        question = " ".join(words)
        expected = [one.id for one in reversed(made) if _has(one, question)]
        assert find_customers(tenant, question) == (expected if _plain_words(question) else []), (
            question
        )

    check()


def test_found_customers_are_turned_page_by_page(tenant: Tenant) -> None:
    made = [one.id for one in add(tenant, [NewCustomer(f"c{n}@same.test") for n in range(12)])]
    wait_until_customers(tenant, "same", *reversed(made))
    first = find_customers(tenant, "same", 5)
    assert first == made[:5:-1]  # one more than the page
    assert find_customers(tenant, "same", 5, first[4]) == made[6:0:-1]
    assert find_customers(tenant, "same", 5, made[0]) == []


def test_each_hit_leads_to_its_customer_by_number(template: Path) -> None:
    terms = rules.parse_prefixes("mar lind")
    steps = plan(
        template,
        lambda tx: lookup.find_customers(tx, "tenant", terms, "g", 51),
    )
    assert steps[1:] == ["SEARCH d USING INDEX customer_documents_number (number=?)"]


def test_existing_customers_are_indexed_in_steps_before_the_index_is_used(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [one.id for one in add(tenant, [NewCustomer(f"c{n}@before.test") for n in range(45)])]
    wait_until_customers(tenant, "before", *reversed(made))
    service, seen = tenant.service, []
    service.run(f"UPDATE customers SET name = 'Renamed' WHERE tenant_id = '{tenant.id}'")
    restart_rebuild(tenant, CUSTOMERS)

    def is_done() -> bool:
        seen.append(find_customers(tenant, "renamed"))
        service.in_background(update_indexes)
        return seen[-1] == made[::-1]

    wait_until(is_done)
    assert all(each is None or each == made[::-1] for each in seen)


def test_hostile_texts_are_indexed_and_asked_for(tenant: Tenant, key: Key) -> None:
    kept = [text for text in HOSTILE_QUERIES if "\0" not in text and "\ud800" not in text]
    made = [
        key.customer(f"h{number}@hostile.test", name=text[:255], company=text[:255])["id"]
        for number, text in enumerate(kept)
    ]
    wait_until_customers(tenant, "hostile", *reversed(made))
    for question in HOSTILE_QUERIES:
        assert {*(find_customers(tenant, question) or [])} <= {*made}


@POSTGRESQL_ONLY
def test_customers_older_than_the_newest_are_found(tenant: Tenant, key: Key) -> None:
    one = key.customer("rare@example.test")["id"]
    wait_until_customers(tenant, "rare", one)
    newer = "'ffff' || lpad(n::text, 32, '0'), n, CASE n WHEN 9 THEN 'rarest' ELSE 'other' END"
    tenant.service.run(
        "INSERT INTO customer_documents (tenant_id, customer_id, number, words)"
        f" SELECT '{tenant.id}', id, n, word::tsvector FROM ("
        f" SELECT {newer} FROM generate_series(1, 5100) n) made (id, n, word)"
    )
    assert find_customers(tenant, "rar") == [f"ffff{9:032}", one]
    assert find_customers(tenant, "rar", after=f"ffff{9:032}") == [one]
    assert len(find_customers(tenant, "oth") or []) == 51


@POSTGRESQL_ONLY
def test_search_function_refuses_another_tenant(service: Service, tenant: Tenant) -> None:
    sql = "SELECT customer_id FROM search_customers(:of, 'x', 'g', 9) LIMIT 9"
    of = {"of": service.tenant().id}

    async def ask(state: Any) -> None:
        await state.database.read(lambda tx: tx.fetch_all(sql, of), tenant.id)

    with pytest.raises(ServiceUnavailable) as refusal:
        service.in_serving(ask)
    assert "of another tenant" in str(refusal.value.__cause__)
