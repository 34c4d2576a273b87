"""The pages that merge customers and undo it."""

from typing import Any

import pytest

from tests.support.client import Key
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor
from tests.support.searching import wait_until_customers
from tests.support.service import Tenant

CUSTOMERS = "/api/v1/external/customers"


@pytest.fixture
def source(key: Key) -> dict[str, Any]:
    return key.customer("maria@work.example", name="M. Santos", phone="+351 2")


@pytest.fixture
def target(key: Key) -> dict[str, Any]:
    return key.customer("maria@home.example", name="Maria Santos", phone="+351 1")


def at(customer: dict[str, Any], behind: str = "") -> str:
    return f"/customers/{customer['id']}{behind}"


def read(key: Key, customer: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{CUSTOMERS}/{customer['id']}").json()["data"]
    return shown


def test_a_customer_is_searched_shown_merged_and_taken_back(
    tenant: Tenant, key: Key, visitor: Visitor, source: dict[str, Any], target: dict[str, Any]
) -> None:
    wait_until_customers(tenant, "Maria", target["id"], source["id"])
    assert at(source, "/merge") in visitor.get(at(source)).links
    found = visitor.get(at(source, "/merge?q=Santos"))
    choice = at(source, f"/merge?into={target['id']}")
    assert [link for link in found.links if "into=" in link] == [choice]
    page = visitor.get(choice)
    assert_page_is_secure(page)
    assert "M. Santos" in page.text and "maria@home.example" in page.text
    assert read(key, source) == source
    page = visitor.submit(page.form(at(source, "/merge")))
    assert visitor.at == at(target)
    assert "M. Santos was merged into this customer." in page.text
    assert "maria@work.example" in page.text and "+351 2" in page.text
    page = visitor.get(at(source))
    assert visitor.at == at(target)
    visitor.submit(page.form(at(source, "/unmerge")))
    assert visitor.at == at(source)
    assert read(key, source)["merged_into_id"] is None


def test_what_cannot_be_merged_is_said_and_nothing_moves(
    key: Key, visitor: Visitor, source: dict[str, Any], target: dict[str, Any]
) -> None:
    form = visitor.get(at(source, f"/merge?into={target['id']}")).form(at(source, "/merge"))
    assert key.delete(f"{CUSTOMERS}/{target['id']}").status_code == 204
    page = visitor.submit(form)
    assert "There is no customer with this id." in page.text
    itself = visitor.submit(form, into=source["id"])
    assert "These are the same customer." in itself.text
    assert read(key, source) == source


def test_a_merge_that_others_have_undone_is_not_undone_again(
    key: Key, visitor: Visitor, source: dict[str, Any], target: dict[str, Any]
) -> None:
    key.post(f"{CUSTOMERS}/{source['id']}/merge", {"into": target["id"]})
    form = visitor.get(at(target)).form(at(source, "/unmerge"))
    key.delete(f"{CUSTOMERS}/{source['id']}/merge")
    assert "there is nothing to undo" in visitor.submit(form).text


def test_nobody_is_found_for_a_customer_who_is_alone(
    visitor: Visitor, source: dict[str, Any]
) -> None:
    page = visitor.get(at(source, "/merge?q=maria@work.example"))
    assert "No other customer found." in page.text


def test_pages_about_a_merged_customer_name_the_one_who_stays(
    key: Key, visitor: Visitor, source: dict[str, Any], target: dict[str, Any]
) -> None:
    form = visitor.get(at(source, "/edit")).form(at(source, "/edit"))
    key.post(f"{CUSTOMERS}/{source['id']}/merge", {"into": target["id"]})
    for page in (visitor.get(at(source, "/edit")), visitor.submit(form, name="N")):
        assert page.status == 409
        assert f"is merged into {target['id']}" in page.text
