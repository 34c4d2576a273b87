"""Settings → E-mail → Form for customers."""

from tests.mail.contact_form.support import FormDesk, Stranger
from tests.support.mail_server import MailServer
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor, logged_in
from tests.support.service import Tenant

HOME = "/settings/email/form"


def test_without_a_mailbox_that_sends_the_page_says_why_it_is_off(tenant: Tenant) -> None:
    page = logged_in(tenant).get(HOME)
    assert "no mailbox sends e-mail" in page.text
    assert [form for form in page.forms if form.action == HOME] == []
    assert_page_is_secure(page)


def test_an_administrator_switches_the_form_on_and_off(tenant: Tenant, server: MailServer) -> None:
    desk = FormDesk(tenant, server, is_on=False)
    visitor, name = logged_in(tenant), f"acme-{tenant.id[-12:]}"
    form = visitor.get(HOME).form(HOME)
    page = visitor.submit(form, path_name=name, is_on="yes")
    assert page.status == 200 and "Saved." in page.text and f"/{name}/new" in page.text
    stale = visitor.submit(form, path_name=f"{name}-mine")
    assert stale.status == 412 and stale.form(HOME).value("path_name") == f"{name}-mine"
    stranger = Stranger(desk)
    assert stranger.get(f"/{name}/new").status == 200
    assert stranger.get(f"/{desk.name}/new").status == 404
    form = visitor.get(HOME).form(HOME)
    visitor.post(HOME, [field for field in form.fields if field[0] != "is_on"])
    assert stranger.get(f"/{name}/new").status == 404
    sql = "SELECT action FROM audit WHERE tenant_id = :id ORDER BY id LIMIT 99"
    actions = [row[0] for row in tenant.service.rows(sql, id=tenant.id)]
    assert actions.count("contact_form.updated") == 3


def test_wrong_settings_are_named(tenant: Tenant, server: MailServer) -> None:
    desk = FormDesk(tenant, server)
    other = FormDesk(tenant.service.tenant(), server)
    visitor = logged_in(tenant)
    for field, value in (
        ("path_name", "settings"), ("path_name", other.name), ("path_name", "A b"),
        ("base_url", "ftp://x.example"), ("mailbox_id", other.mailbox.id),
    ):  # fmt: skip
        page = visitor.submit(visitor.get(HOME).form(HOME), **{field: value})
        assert page.status == 422, value
        assert ("p", "id", f"{field}-fault") in page.attributes, value
    sql = "SELECT path_name, mailbox_id FROM contact_forms WHERE tenant_id = :id LIMIT 1"
    (row,) = tenant.service.rows(sql, id=tenant.id)
    assert tuple(row) == (desk.name, desk.mailbox.id)


def test_an_agent_may_not_change_the_form(tenant: Tenant) -> None:
    tenant.user("agent", email := f"agent.{tenant.id}@example.test")
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    assert visitor.get(HOME).status == 403


def test_the_form_has_the_chosen_custom_fields(tenant: Tenant, server: MailServer) -> None:
    for key, kind in (("order", "text"), ("secret", "text"), ("gift", "checkbox")):
        tenant.admin().post("/api/v1/custom-fields", {"key": key, "label": key, "type": kind})
    tenant.admin().post("/api/v1/custom-fields", {"key": "weight", "label": "w", "type": "number"})
    desk = FormDesk(tenant, server, field_keys=["order", "weight", "gift"])
    ann = Stranger(desk)
    page = ann.get(ann.path)
    assert "secret" not in page.text
    fault = ann.write(**{"custom-weight": "heavy"})
    assert fault.status == 422 and ("p", "id", "custom-weight-fault") in fault.attributes
    ann.write(**{"custom-order": "A-7", "custom-weight": "2.5", "custom-secret": "x"})
    link = desk.link()
    ann.submit(ann.get(link).form(link))
    (ticket,) = desk.tickets()
    assert ticket["custom_fields"] == {"order": "A-7", "weight": 2.5}


def test_a_value_that_its_field_no_longer_takes_is_in_the_text(
    tenant: Tenant, server: MailServer
) -> None:
    admin, fields = tenant.admin(), "/api/v1/custom-fields"
    new = {"key": "size", "label": "Size", "type": "choice", "choices": ["small", "large"]}
    field = admin.post(fields, new).json()["data"]
    desk = FormDesk(tenant, server, field_keys=["size"])
    ann = Stranger(desk)
    ann.write(**{"custom-size": "small"})
    assert admin.patch(f"{fields}/{field['id']}", {"choices": ["large"]}).status_code == 200
    link = desk.link()
    assert ann.submit(ann.get(link).form(link)).status == 200
    (ticket,) = desk.tickets()
    assert (ticket["custom_fields"], ticket["description"]) == (
        {},
        "It has a crack.\n\nsize: small",
    )
