"""Opening a ticket on its page, without scripts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sealdesk.resources.addresses import can_receive
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant
from tests.tickets.custom_fields.factories import FIELDS, define

API = "/api/v1/external/tickets"
NEW = "/tickets/new"
TYPED: dict[str, str | list[str]] = {
    "email": "maria@example.test",
    "name": "Maria",
    "phone": "",
    "subject": "Cracked bowls",
    "description": "Two bowls\nare cracked.",
    "priority": "high",
    "new_tags": "refund, bowls",
}


def opened(key: Key) -> list[dict[str, Any]]:
    """The tickets of the tenant."""
    tickets: list[dict[str, Any]] = key.get(API).json()["data"]
    return tickets


def send(visitor: Visitor, **typed: str) -> Page:
    return visitor.submit(visitor.get(NEW).form(NEW), **TYPED | typed)


def test_a_ticket_is_opened_with_the_typed_values(
    tenant: Tenant, key: Key, visitor: Visitor
) -> None:
    agent = tenant.user("agent", f"eve.of.{tenant.id}@example.test", "Eve")
    page = visitor.get(NEW)
    assert_page_is_secure(page)
    page = visitor.submit(page.form(NEW), assignee_id=agent, **TYPED)
    (ticket,) = opened(key)
    assert visitor.at == f"/tickets/{ticket['id']}" and "Cracked bowls" in page.text
    assert ticket["customer"]["email"] == "maria@example.test"
    assert ticket["customer"]["name"] == "Maria"
    assert ticket["description"] == "Two bowls\nare cracked."
    assert (ticket["priority"], ticket["status"]) == ("high", "open")
    assert ticket["tags"] == ["refund", "bowls"]
    assert (ticket["assignee_id"], ticket["source"]) == (agent, "dashboard")


def test_a_new_conversation_begins_with_the_customer_of_a_ticket(
    service: Service, key: Key, visitor: Visitor
) -> None:
    known = {"email": "vera@example.test", "name": "Vera Bakker"}
    ticket = key.ticket(customer=known)
    at = f"{NEW}?customer={ticket['customer']['id']}"
    assert at in visitor.get(f"/tickets/{ticket['id']}").links
    form = dict(visitor.get(at).form(NEW).fields)
    assert (form["email"], form["name"]) == ("vera@example.test", "Vera Bakker")
    # A customer of another tenant does not exist, and what is no id names nobody.
    assert logged_in(service.tenant()).get(at).status == 404
    assert dict(visitor.get(f"{NEW}?customer=vera").form(NEW).fields)["email"] == ""


def test_only_the_customer_the_subject_and_the_description_are_needed(
    key: Key, visitor: Visitor
) -> None:
    send(visitor, name="", priority="medium", new_tags="")
    (ticket,) = opened(key)
    assert (ticket["tags"], ticket["assignee_id"], ticket["customer"]["name"]) == ([], None, None)


def test_who_calls_without_an_email_address_becomes_a_customer_whom_nobody_mails(
    key: Key, visitor: Visitor
) -> None:
    form = visitor.get(NEW).form(NEW)
    for _ in range(2):  # sent twice by mistake
        page = visitor.submit(form, **TYPED | {"email": "", "phone": "+385 91 555 0142"})
    (ticket,) = opened(key)
    email = ticket["customer"]["email"]
    assert ticket["customer"]["name"] == "Maria" and not can_receive(email)
    assert (
        email not in page.text
        and "no e-mail address" in page.text
        and "+385 91 555 0142" in page.text
    )
    assert "This reply is not e-mailed." in page.text
    at = f"/customers/{ticket['customer']['id']}"
    files = ("/customers/export/file", "/tickets/export/file")
    for path in (at, "/customers", *files, "/customers/suggestions?q=maria"):
        page = visitor.get(path)
        assert "Maria" in page.text and email not in page.text
    assert ("option", "data-more", "+385 91 555 0142") in page.attributes
    send(visitor, email="", name="Bo")  # is another customer
    assert len({each["customer"]["id"] for each in opened(key)}) == 2
    again = visitor.get(f"{NEW}?customer={ticket['customer']['id']}")
    assert again.form(NEW).value("email") == "" and "no-email.invalid" not in again.answer.text
    visitor.submit(again.form(NEW), subject="Second call", description="Again.")
    assert [each["customer"]["email"] for each in opened(key)].count(email) == 2
    visitor.submit(again.form(NEW), subject="Her son", description="First.", name="Ivo")
    called = [each["customer"]["name"] for each in opened(key)]
    assert sorted(called) == ["Bo", "Ivo", "Maria", "Maria"]


def test_no_form_shows_what_stands_in_for_an_address_and_saving_keeps_it(
    key: Key, visitor: Visitor
) -> None:
    send(visitor, email="", name="Maria")
    maria = opened(key)[0]["customer"]
    at, shown = f"/customers/{maria['id']}", f"/api/v1/external/customers/{maria['id']}"
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    visitor.submit(form, name="", company="Kiln")
    stored = key.get(shown).json()["data"]
    assert (stored["email"], stored["company"]) == (maria["email"], "Kiln")
    key.patch(shown, {"email": "maria@example.test", "other_emails": [maria["email"]]})
    other = key.patch(shown, {"email": maria["email"]}).json()["data"]
    assert other["other_emails"] == ["maria@example.test"]
    paths = (at, f"{at}/edit", f"{at}/merge", "/customers", f"/tickets?customer={maria['id']}")
    for path in (*paths, f"/tickets/{opened(key)[0]['id']}", f"{NEW}?customer={maria['id']}"):
        assert "no-email.invalid" not in visitor.get(path).answer.text, path
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    visitor.submit(form, email="maria@example.test", other_emails="")
    stored = key.get(shown).json()["data"]
    assert (stored["email"], stored["other_emails"]) == ("maria@example.test", [])


def test_without_an_address_and_a_name_nothing_is_opened(key: Key, visitor: Visitor) -> None:
    page = send(visitor, email="", name="")
    assert page.status == 422 and ("p", "id", "email-fault") in page.attributes
    assert opened(key) == []


def test_the_inbox_and_the_first_steps_lead_to_the_form(key: Key, visitor: Visitor) -> None:
    assert NEW in visitor.get("/tickets").links
    key.ticket()
    page = visitor.get("/tickets")
    assert NEW in page.links and ("a", "data-key", "c") in page.attributes


@for_each(
    ("field", "value", "described"),
    [
        ("email", "no address", "email-fault"),
        ("name", "n" * 256, "name-fault"),
        ("phone", "1" * 65, "phone-fault"),
        ("subject", " ", "subject-fault"),
        ("description", "\n", "description-fault"),
        ("priority", "highest", "priority-fault"),
        ("assignee_id", "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "assignee_id-fault"),
        ("new_tags", "a, " + "b" * 65, "tags-fault"),
    ],
)
def test_a_fault_is_beside_its_field_and_the_values_stay(
    key: Key, visitor: Visitor, field: str, value: str, described: str
) -> None:
    page = send(visitor, **{field: value})
    assert page.status == 422
    assert [v for _, n, v in page.attributes if n == "id" and v.endswith("-fault")] == [described]
    marked = [v for _, n, v in page.attributes if n == "aria-describedby"]
    assert any(described in each.split() for each in marked)
    shown = dict(page.form(NEW).fields)
    for name, typed in {**TYPED, field: value}.items():
        # A choice that is no option is not chosen.
        assert shown.get(name) == typed or name == field in ("priority", "assignee_id")
    assert opened(key) == []


def test_a_form_that_is_sent_twice_opens_one_ticket(key: Key, visitor: Visitor) -> None:
    form = visitor.get(NEW).form(NEW)
    first = visitor.submit(form, **TYPED)
    at = visitor.at
    again = visitor.submit(form, **TYPED)
    assert (first.status, again.status, visitor.at) == (200, 200, at)
    assert len(opened(key)) == 1


def test_a_form_that_is_sent_at_once_opens_one_ticket(key: Key, visitor: Visitor) -> None:
    form = visitor.get(NEW).form(NEW)
    with ThreadPoolExecutor(4) as threads:
        pages = [*threads.map(lambda _: visitor.submit(form, **TYPED), range(4))]
    assert {page.status for page in pages} <= {200, 409}
    assert len(opened(key)) == 1


def test_a_form_that_was_changed_or_opened_anew_is_another_ticket(
    key: Key, visitor: Visitor
) -> None:
    form = visitor.get(NEW).form(NEW)
    visitor.submit(form, **TYPED)
    visitor.submit(form, **TYPED | {"subject": "Another"})
    send(visitor)
    assert len(opened(key)) == 3


def test_the_form_of_another_user_is_a_ticket_of_its_own(
    tenant: Tenant, key: Key, visitor: Visitor
) -> None:
    submission = visitor.get(NEW).form(NEW).value("submission")
    send(visitor, submission=submission)
    tenant.user("agent", f"eve.of.{tenant.id}@example.test", "Eve")
    colleague = Visitor(tenant.service)
    colleague.log_in(f"eve.of.{tenant.id}@example.test")
    send(colleague, submission=submission)
    assert len(opened(key)) == 2


def test_a_user_of_another_tenant_is_no_assignee(
    service: Service, key: Key, visitor: Visitor
) -> None:
    stranger = service.tenant("Other").user("agent", name="X")
    assert send(visitor, assignee_id=stranger).status == 422
    assert opened(key) == []


def test_custom_fields_have_their_types_and_empty_ones_no_value(
    tenant: Tenant, key: Key, visitor: Visitor
) -> None:
    admin = tenant.admin()
    define(admin, "carrier", "choice", label="Carrier")
    define(admin, "weight", "number")
    define(admin, "fragile", "checkbox")
    define(admin, "note")
    hidden = define(admin, "old", label="Old label")
    admin.patch(f"{FIELDS}/{hidden['id']}", {"is_active": False})
    page = visitor.get(NEW)
    assert "Carrier" in page.text and "Old label" not in page.text
    send(visitor, **{"custom-carrier": "UPS", "custom-weight": "2.5", "custom-fragile": "yes"})
    send(visitor)
    empty, full = opened(key)
    assert full["custom_fields"] == {"carrier": "UPS", "weight": 2.5, "fragile": True}
    assert empty["custom_fields"] == {}


def test_a_fault_of_a_custom_field_is_beside_it_and_the_values_stay(
    tenant: Tenant, key: Key, visitor: Visitor
) -> None:
    define(tenant.admin(), "weight", "number")
    define(tenant.admin(), "note")
    page = send(visitor, **{"custom-weight": "heavy", "custom-note": "a text"})
    assert page.status == 422 and opened(key) == []
    assert ("input", "aria-describedby", "custom-weight-fault") in page.attributes
    shown = page.form(NEW)
    assert (shown.value("custom-weight"), shown.value("custom-note")) == ("heavy", "a text")
    assert shown.value("subject") == TYPED["subject"]


def test_a_field_that_was_deactivated_meanwhile_is_a_fault(
    tenant: Tenant, key: Key, visitor: Visitor
) -> None:
    admin = tenant.admin()
    field = define(admin, "note")
    form = visitor.get(NEW).form(NEW)
    admin.patch(f"{FIELDS}/{field['id']}", {"is_active": False})
    page = visitor.submit(form, **TYPED | {"custom-note": "a text"})
    assert page.status == 422 and "This custom field is no longer there." in page.text
    assert opened(key) == []
    assert page.form(NEW).value("subject") == TYPED["subject"]


def test_hostile_texts_are_shown_as_they_are(tenant: Tenant, visitor: Visitor) -> None:
    define(tenant.admin(), "note")
    for text in HOSTILE_TEXTS:
        typed = dict.fromkeys(
            ("subject", "name", "description", "new_tags", "email", "custom-note"), text
        )
        page = send(visitor, **typed)
        assert_page_is_secure(page)
        if page.status == 422:
            shown = page.form(NEW)
            assert shown.value("subject").strip() == text.strip()
            assert shown.value("description").strip() == text.strip()
