"""The pages of Settings → Custom fields, without scripts."""

from sealdesk.tickets.custom_fields.types import MAX_ACTIVE
from tests.support.client import Person
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Tenant
from tests.tickets.custom_fields.factories import FIELDS, define

HOME = "/settings/custom-fields"


def _add(visitor: Visitor, **fields: str | list[str]) -> Page:
    return visitor.submit(visitor.get(f"{HOME}/new").form(f"{HOME}/new"), **fields)


def _press(visitor: Visitor, field_id: str, name: str, value: str) -> Page:
    """Press a button beside a field of the list."""
    token = visitor.get(HOME).form(f"{HOME}/{field_id}").value("form_token")
    return visitor.post(f"{HOME}/{field_id}", [("form_token", token), (name, value)])


def test_the_page_without_fields_explains_them(visitor: Visitor) -> None:
    page = visitor.get(HOME)
    assert "No custom fields yet" in page.text
    assert f"{HOME}/new" in page.links


def test_a_field_is_added_changed_and_listed(visitor: Visitor, admin: Person) -> None:
    page = _add(visitor, label="Carrier", key="carrier", type="choice", choices=" DHL \n\nUPS")
    assert visitor.at.partition("?")[0] == HOME
    assert "Carrier" in page.text and "DHL , UPS" in page.text
    (field,) = admin.get(FIELDS).json()["data"]
    assert (field["choices"], field["required_on_resolve"]) == (["DHL", "UPS"], False)
    at = f"{HOME}/{field['id']}"
    form = visitor.get(at).form(at)
    assert form.value("choices") == "DHL\nUPS"
    visitor.submit(form, label="By", required_on_resolve="yes", choices="UPS")
    (changed,) = admin.get(FIELDS).json()["data"]
    assert (changed["label"], changed["choices"]) == ("By", ["UPS"])
    assert changed["required_on_resolve"] is True
    stale = visitor.submit(form, choices="UPS\nGLS")
    assert stale.status == 412 and stale.form(at).value("choices") == "UPS\nGLS"
    assert admin.get(FIELDS).json()["data"] == [changed]
    visitor.submit(stale.form(at))
    assert admin.get(FIELDS).json()["data"][0]["choices"] == ["UPS", "GLS"]


def test_a_field_is_added_with_a_message_and_deleted_after_a_question(
    visitor: Visitor, admin: Person
) -> None:
    page = _add(visitor, label="Carrier", key="carrier", type="text")
    assert "The field “Carrier” is added." in page.text
    assert "is added" not in visitor.get(HOME).text
    (field,) = admin.get(FIELDS).json()["data"]
    at = f"{HOME}/{field['id']}"
    assert f"{at}/delete" in visitor.get(at).links
    question = visitor.get(f"{at}/delete")
    assert "Delete this field?" in question.text and "carrier" in question.text
    assert "No custom fields yet" in visitor.submit(question.form(f"{at}/delete")).text
    assert visitor.get(f"{at}/delete").status == 404
    assert "Custom field deleted" in visitor.get("/settings/audit").text


def test_wrong_input_is_shown_again_with_its_faults(visitor: Visitor, admin: Person) -> None:
    page = _add(visitor, label="Größe", key="1 2", type="choice", choices="")
    assert page.status == 422
    assert "beginning with a letter" in page.text
    assert page.form(f"{HOME}/new").value("key") == "1 2"
    page = _add(visitor, label="Size", key="size", type="choice")
    assert (page.status, "Name at least one choice" in page.text) == (422, True)
    field = define(admin, "carrier", "choice")
    at = f"{HOME}/{field['id']}"
    page = visitor.submit(visitor.get(at).form(at), label=" ", choices="A\nA")
    assert (page.status, page.form(at).value("choices")) == (422, "A\nA")
    assert admin.get(FIELDS).json()["data"] == [field]


def test_fields_are_moved_and_deactivated_by_buttons(visitor: Visitor, admin: Person) -> None:
    first, second = (define(admin, key)["id"] for key in ("a", "b"))
    _press(visitor, first, "to", "down")
    assert [field["id"] for field in admin.get(FIELDS).json()["data"]] == [second, first]
    _press(visitor, first, "to", "up")
    assert [field["id"] for field in admin.get(FIELDS).json()["data"]] == [first, second]
    _press(visitor, first, "to", "up")  # from a page that somebody else has outdated
    page = _press(visitor, first, "is_active", "no")
    assert "Inactive" in page.text and "Activate" in page.text
    _press(visitor, first, "is_active", "yes")
    assert all(field["is_active"] for field in admin.get(FIELDS).json()["data"])


def test_the_limit_of_active_fields_is_said_before_and_after(
    visitor: Visitor, admin: Person
) -> None:
    fields = [define(admin, f"f{number}") for number in range(MAX_ACTIVE)]
    assert f"{HOME}/new" not in visitor.get(HOME).links
    page = _add(visitor, label="More", key="more", type="text")
    assert (page.status, page.form(f"{HOME}/new").value("key")) == (409, "more")
    at = f"{FIELDS}/{fields[0]['id']}"
    admin.patch(at, {"is_active": False})
    define(admin, "more")
    page = _press(visitor, fields[0]["id"], "is_active", "yes")
    assert (page.status, "Deactivate one first" in page.text) == (409, True)


def test_hostile_texts_are_shown_as_text(visitor: Visitor, admin: Person) -> None:
    for place, text in enumerate(HOSTILE_TEXTS):
        field = define(admin, f"f{place}", "choice", label=text, choices=[text])
        page = visitor.get(f"{HOME}/{field['id']}")
        assert_page_is_secure(page)
        assert page.form(f"{HOME}/{field['id']}").value("label") == text
    assert_page_is_secure(visitor.get(HOME))


def test_agents_and_other_tenants_see_no_fields(tenant: Tenant, admin: Person) -> None:
    field = define(admin, "secret")
    email = f"agent.of.{tenant.id}@example.test"
    tenant.user("agent", email)
    agent = Visitor(tenant.service)
    agent.log_in(email)
    assert agent.get(HOME).status == 403
    other = logged_in(tenant.service.tenant())
    assert other.get(f"{HOME}/{field['id']}").status == 404
    assert "secret" not in other.get(HOME).text.lower()


def test_changes_are_named_in_the_audit_log(visitor: Visitor, admin: Person) -> None:
    field = define(admin, "size")
    page = visitor.get("/settings/audit")
    assert "Custom field added" in page.text
    assert f"{HOME}/{field['id']}" in page.links
