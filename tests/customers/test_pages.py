"""The pages of customers: search and edit."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from sealdesk.customers import actions, store
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.search.store import lookup as search
from tests.support.client import Key
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor
from tests.support.searching import wait_until_customers
from tests.support.service import Service, Tenant

HOME = "/customers"
API = "/api/v1/external/customers"
_KNOWN = {
    "name": "Maria Santos",
    "phone": "+351 1234",
    "company": "Santos Ceramics",
    "external_id": "C-1042",
    "metadata": {"plan": "pro", "since": 2019, "is": {"vip": True}},
}


@pytest.fixture
def maria(key: Key) -> dict[str, Any]:
    return key.customer("Maria@example.test", **_KNOWN)


@pytest.fixture
def at(maria: dict[str, Any]) -> str:
    return f"{HOME}/{maria['id']}"


def _now(key: Key, at: str) -> dict[str, Any]:
    return dict(key.get(f"/api/v1/external{at}").json()["data"])


def test_an_empty_list_says_how_customers_are_added(visitor: Visitor) -> None:
    page = visitor.get(HOME)
    assert "No customers yet" in page.text
    assert_page_is_secure(page)


def _add(tenant: Tenant, count: int) -> list[str]:
    """The ids of this number of new customers."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> list[str]:
        news = [NewCustomer(f"c{number}@example.test") for number in range(count)]
        made = [await actions.add_customer(tx, tenant.id, new, now_us=now_us) for new in news]
        return [customer.id for customer in made]

    return tenant.service.write(work)


def test_the_list_has_pages(visitor: Visitor, tenant: Tenant) -> None:
    made = _add(tenant, 103)
    seen, paths = [], [HOME]
    while paths[-1]:
        page = visitor.get(paths[-1])
        seen += re.findall(r'class="url" href="/customers/([^"]+)"', page.answer.text)
        found = re.search(r'<a href="([^"]+)" rel="next">', page.answer.text)
        paths.append(found[1] if found else "")
    assert seen == made[::-1]
    back = re.search(r'<a href="([^"]+)" rel="prev">', page.answer.text)
    assert back is not None and back[1] == paths[1]
    for odd in ("before=%27%22%3E", "page=7"):
        assert visitor.get(f"{HOME}?{odd}").status == 200


def test_an_address_finds_its_customer(visitor: Visitor, key: Key, at: str) -> None:
    key.customer("other@example.test")
    key.customer("not.maria@example.test")
    page = visitor.get(f"{HOME}?q=%20maria%40EXAMPLE.test")
    assert at in page.links and "other@example.test" not in page.text
    assert "not.maria" not in page.text
    nobody = visitor.get(f"{HOME}?q=%3Cscript%3E")
    assert "No customers found" in nobody.text
    assert nobody.form(HOME).value("q") == "<script>"


def test_parts_of_words_find_customers(visitor: Visitor, tenant: Tenant, key: Key, at: str) -> None:
    key.customer("o@example.test", name="Østergård 100%_ \\o/")
    tenant.service.tenant().key().customer("maria.of.others@example.test")
    odd = f"{HOME}/{key.get(f'{API}?email=o@example.test').json()['data'][0]['id']}"
    for q, found in {
        "sant ceram": [at], "SANTOS maria": [at], "1234": [at], "ia@exa": [at],
        "østerg": [odd], "ØSTERGÅRD": [odd], "0%_": [odd], "\\o/": [odd],
        "santos nobody": [], "1_34": [], "of.others": [],
    }.items():  # fmt: skip
        page = visitor.get(f"{HOME}?{urlencode({'q': q})}")
        assert [link for link in page.links if len(link) == len(at)] == found, q


def test_customers_are_suggested_by_name_phone_and_a_part_of_the_address(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    for name in ("one", "two"):
        newest = key.customer(
            f"{name}@ana.test", name="Ana <Prieto>", phone=f"+49 30 12345{len(name)}"
        )
    wait_until_customers(tenant, "two ana", newest["id"])
    tenant.service.tenant().key().customer("ana@others.test", name="Ana Prieto")
    for q, count in {"prieto": 2, "ana.te": 2, "123453": 2, "two@ana.test": 1, "": 0}.items():
        html = visitor.once("GET", f"{HOME}/suggestions?{urlencode({'q': q})}").text
        assert html.count("<option") == count, q
    assert 'value="two@ana.test" data-name="Ana &lt;Prieto&gt;"' in html or not html.strip()


def test_search_results_have_pages(visitor: Visitor, tenant: Tenant) -> None:
    made = _add(tenant, 120)
    wait_until_customers(tenant, "c119", made[-1])  # the newest one comes last
    page = visitor.get(f"{HOME}?q=1%40ex+test")  # c1, c11, c21, … c111
    assert len([link for link in page.links if link.removeprefix(f"{HOME}/") in made]) == 12
    page = visitor.get(f"{HOME}?q=example+c")
    (older,) = [link for link in page.links if "before=" in link]
    assert older.startswith(f"{HOME}?q=example+c&before=") or "q=example%20c" in older
    assert f"{HOME}/{made[69]}" in visitor.get(older).links


def test_parts_of_words_are_searched_in_the_newest_customers_or_in_all_without_an_index(
    visitor: Visitor, tenant: Tenant, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (newer,) = _add(tenant, 1)
    wait_until_customers(tenant, "c0", newer)
    monkeypatch.setattr(actions, "_MAX_SCANNED", 1)
    page = visitor.get(f"{HOME}?q=xample")
    assert f"{HOME}/{newer}" in page.links and at not in page.links

    async def not_yet(*_: Any) -> bool:
        return False

    monkeypatch.setattr(search, "are_customers_indexed", not_yet)
    page = visitor.get(f"{HOME}?q=xample")
    assert f"{HOME}/{newer}" in page.links and at in page.links


def test_a_slow_search_says_what_to_do(
    visitor: Visitor, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_off(*_: Any) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(store, "list_customers", cut_off)
    page = visitor.get(f"{HOME}?q=aria")
    assert (page.status, page.form(HOME).value("q")) == (503, "aria")
    assert "Enter the whole e-mail address" in page.text


def test_a_customers_page_shows_every_field(visitor: Visitor, key: Key, at: str) -> None:
    page = visitor.get(at)
    assert_page_is_secure(page)
    for text in (
        "Maria@example.test",
        "Maria Santos",
        "Santos Ceramics",
        "C-1042",
        "pro",
        "2019",
        '{"vip": true}',
    ):
        assert text in page.text
    assert "No tickets yet" in page.text
    tickets = [key.ticket(customer={"email": "maria@example.test"})["id"] for _ in range(27)]
    key.ticket(customer={"email": "other@example.test"})
    first = visitor.get(at)
    second = visitor.get(next(link for link in first.links if "before=" in link and at in link))
    shown = [
        link.removeprefix("/tickets/")
        for page in (first, second)
        for link in page.links
        if re.fullmatch(r"/tickets/[0-9a-f-]{36}", link)
    ]
    assert shown == tickets[::-1]


def test_an_edit_changes_the_customer(visitor: Visitor, key: Key, at: str) -> None:
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    visitor.submit(form, name=" Maria Lima ", phone="", email="maria.lima@example.test")
    assert visitor.at == at
    now = _now(key, at)
    assert (now["name"], now["phone"], now["email"]) == (
        "Maria Lima",
        None,
        "maria.lima@example.test",
    )
    assert (now["company"], now["metadata"]) == (_KNOWN["company"], _KNOWN["metadata"])


@pytest.mark.parametrize(
    ("field", "value"),
    [("email", "no address"), ("email", ""), ("name", "n" * 256), ("phone", "1" * 65)],
)
def test_a_refused_edit_keeps_the_typed_values(
    visitor: Visitor, key: Key, at: str, field: str, value: str
) -> None:
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    page = visitor.submit(form, **{"company": "Kept", field: value})
    assert page.status == 422
    assert ("p", "id", f"{field}-fault") in page.attributes
    again = page.form(f"{at}/edit")
    assert (again.value("company"), again.value(field)) == ("Kept", value)
    assert _now(key, at)["version"] == 1


def test_the_address_of_another_customer_is_refused_with_a_link_to_them(
    visitor: Visitor, key: Key, at: str
) -> None:
    other = key.customer("other@example.test")
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    page = visitor.submit(form, email="OTHER@example.test")
    assert page.status == 409
    assert f"{HOME}/{other['id']}" in page.links
    assert page.form(f"{at}/edit").value("email") == "OTHER@example.test"


def test_further_addresses_and_numbers_are_edited_in_lines(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    page = visitor.submit(
        form, other_emails=" m@x.example \r\n\r\nn@x.example", other_phones="7\n8"
    )
    assert all(text in page.text for text in ("m@x.example", "n@x.example"))
    now = _now(key, at)
    assert now["other_emails"] == ["m@x.example", "n@x.example"]
    assert now["other_phones"] == ["7", "8"]
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    key.patch(f"/api/v1/external{at}", {"other_phones": ["9"]})
    page = visitor.submit(form, other_emails="")
    assert page.status == 412
    assert "Further phone numbers: 9" in page.text and "addresses: " not in page.text
    assert visitor.submit(page.form(f"{at}/edit")).status == 200
    now = _now(key, at)
    assert (now["other_emails"], now["other_phones"]) == ([], ["9"])


def test_a_further_address_of_another_customer_is_refused_and_nothing_is_saved(
    visitor: Visitor, key: Key, at: str
) -> None:
    other, before = key.customer("other@example.test"), _now(key, at)
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    page = visitor.submit(form, name="N", other_emails="a@x.example\nother@example.test")
    assert page.status == 409
    assert f"{HOME}/{other['id']}" in page.links
    page = visitor.submit(form, other_emails="no address")
    assert page.status == 422
    assert ("p", "id", "other_emails-fault") in page.attributes
    assert _now(key, at) == before


def test_saving_an_outdated_form_shows_the_changes_of_others(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    key.patch(f"/api/v1/external{at}", {"company": "New Ceramics", "name": None})
    page = visitor.submit(form, phone="7")
    assert page.status == 412
    assert "Company: New Ceramics" in page.text and "Name: none" in page.text
    assert "Phone: " not in page.text
    again = page.form(f"{at}/edit")
    assert (again.value("phone"), again.value("company")) == ("7", "New Ceramics")
    assert _now(key, at)["phone"] == _KNOWN["phone"]
    assert visitor.submit(again).status == 200
    now = _now(key, at)
    assert (now["phone"], now["company"], now["name"]) == ("7", "New Ceramics", None)


@pytest.mark.parametrize("behind", ["", "/edit"])
def test_an_unknown_or_foreign_customer_is_not_found(
    visitor: Visitor, service: Service, at: str, behind: str
) -> None:
    key = service.tenant().key()
    foreign = f"{HOME}/{key.customer('c@example.test')['id']}"
    for path in (f"{HOME}/0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", foreign, f"{HOME}/nonsense"):
        assert visitor.get(f"{path}{behind}").status == 404
    fields = visitor.get(f"{at}/edit").form(f"{at}/edit").fields
    assert visitor.post(f"{foreign}/edit", fields).status == 404
    assert _now(key, foreign)["version"] == 1


def test_hostile_text_is_shown_as_text(visitor: Visitor, key: Key) -> None:
    for number, text in enumerate(HOSTILE_TEXTS):
        known: dict[str, Any] = {"name": text, "company": text, "external_id": text}
        new = key.customer(f"h{number}@example.test", metadata={text: text}, **known)
        for path in (HOME, f"{HOME}/{new['id']}", f"{HOME}/{new['id']}/edit"):
            page = visitor.get(path)
            assert " ".join(text.split()) in page.text or path.endswith("/edit")
            assert_page_is_secure(page)
