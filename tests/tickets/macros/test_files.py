"""The files of macros: kept by the macro, and sent as copies."""

from typing import Any

import pytest

from tests.automation.test_running import made as made_rule
from tests.support.client import Key
from tests.support.pages import INBOX, Page, Visitor, logged_in
from tests.support.service import Service, Tenant, wait_until
from tests.tickets.macros import MACROS
from tests.tickets.macros.test_bulk import USE, preview
from tests.tickets.test_attached import DAY_S
from tests.tickets.test_uploads import rows_of, used_bytes
from tests.tickets.test_uploads_of_pages import upload, uploaded_id

HOME = "/settings/macros"
TICKETS = "/api/v1/external/tickets"


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket()


def save(visitor: Visitor, path: str = f"{HOME}/new", **fields: Any) -> Page:
    named = {"name": "Care", "shortcut": "care", "body": "See the card."}
    return visitor.submit(visitor.get(path).form(path), **named | fields)


def with_file(visitor: Visitor, tenant: Tenant, ticket: dict[str, Any]) -> tuple[str, str]:
    """The ids of a macro and of its file."""
    file = uploaded_id(upload(visitor, f"{INBOX}/{ticket['id']}", "care.txt", b"by hand"))
    assert save(visitor, attachment_ids=file).status == 200
    (listed,) = tenant.admin().get(MACROS).json()["data"]
    return str(listed["id"]), file


def attached(key: Key, ticket: dict[str, Any]) -> list[dict[str, Any]]:
    listed = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    return [each for reply in listed for each in reply["attachments"]]


def test_each_reply_gets_a_copy_of_the_file(
    visitor: Visitor, tenant: Tenant, key: Key, ticket: dict[str, Any]
) -> None:
    macro, file = with_file(visitor, tenant, ticket)
    at = f"{INBOX}/{ticket['id']}"
    assert "care.txt" in visitor.get(f"{at}/macro/{macro}").text
    for text in ("First. ", "Second. "):
        form = visitor.get(at).form(f"{at}/reply")
        page = visitor.post(f"{at}/macro", [*form.fields, ("body", text), ("macro", macro)])
        assert page.form(f"{at}/reply").value("attachment_ids") == file
        assert visitor.submit(page.form(f"{at}/reply")).status == 200
    copies = [each["id"] for each in attached(key, ticket)]
    assert len({*copies, file}) == 3
    assert visitor.once("GET", f"/attachments/{copies[0]}/content").content == b"by hand"


def test_replies_to_a_selection_and_of_rules_have_it_too(
    visitor: Visitor, tenant: Tenant, key: Key, ticket: dict[str, Any]
) -> None:
    macro, _ = with_file(visitor, tenant, ticket)
    page = preview(visitor, macro, ticket)
    assert "care.txt 1 KiB" in page.text
    visitor.submit(page.form(USE))
    made_rule(tenant.admin(), actions={"macro_id": macro})
    opened = key.ticket()
    wait_until(lambda: bool(attached(key, opened)))
    assert [each["name"] for each in attached(key, ticket) + attached(key, opened)] == [
        *("care.txt", "care.txt")
    ]


def test_a_file_is_kept_by_one_macro_as_long_as_it_has_it(own_service: Service) -> None:
    tenant = own_service.tenant()
    visitor, ticket = logged_in(tenant), tenant.key().ticket()
    macro, file = with_file(visitor, tenant, ticket)
    other = save(visitor, name="Other", shortcut="other", attachment_ids=file)
    assert other.status == 422 and "There is no such attachment" in other.text
    own_service.clock.advance(DAY_S + 1)
    own_service.prune()
    assert [row["id"] for row in rows_of(tenant)] == [file]
    visitor = logged_in(tenant)
    form = visitor.get(f"{HOME}/{macro}").form(f"{HOME}/{macro}")
    assert form.value("attachment_ids") == file
    visitor.submit(form, attachment_ids=[])
    own_service.prune()
    assert rows_of(tenant) == [] and used_bytes(tenant) == 0
