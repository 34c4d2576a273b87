"""Settings → E-mail."""

from pathlib import Path
from uuid import uuid4

import pytest

from sealdesk.mail.mailboxes.types import Failure
from tests.mail.mailboxes.servers import PASSWORD, USERNAME, MailServers
from tests.mail.mailboxes.stored import MAILBOXES, made, set_problem
from tests.servers import free_port
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant, running
from tests.teams.desks import TEAMS, TeamDesk

HOME = "/settings/email"
NEW = f"{HOME}/new"


@pytest.fixture
def address() -> str:
    return f"{uuid4().hex[:24]}@acme.test"


def _add(visitor: Visitor, address: str, **typed: str) -> Page:
    """Send the form of a new mailbox; the page that follows."""
    fields = {"address": address, "receives": "no", **typed}
    return visitor.submit(visitor.get(NEW).form(NEW), **fields)


def test_a_mailbox_is_added_changed_paused_and_deleted(
    visitor: Visitor, tenant: Tenant, address: str
) -> None:
    assert "No mailboxes yet" in visitor.get(HOME).text
    log_in = {"smtp_username": "desk", "smtp_password": PASSWORD}
    page = _add(visitor, address, smtp_host="smtp.acme.test", **log_in)
    at, admin = visitor.at, tenant.admin()
    assert page.status == 200 and address in page.text and PASSWORD not in page.text
    assert_page_is_secure(page)
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    assert (form.value("smtp_password"), form.value("smtp_port")) == ("", "")
    page = visitor.submit(
        form, signature="Best wishes", aliases=f"1-{address}\n 2-{address}", options="strict_dmarc"
    )
    shown = admin.get(f"{MAILBOXES}/{at.rpartition('/')[2]}").json()["data"]
    assert shown["aliases"] == [f"1-{address}", f"2-{address}"]
    assert shown["options"] == ["strict_dmarc"]
    stale = visitor.submit(form, signature="Mine")
    assert stale.status == 412 and stale.form(f"{at}/edit").value("signature") == "Mine"
    assert visitor.get(f"{at}/edit").form(f"{at}/edit").value("options") == "strict_dmarc"
    assert (shown["signature"], shown["has_smtp_password"]) == ("Best wishes", True)
    # A team that is deleted stays until somebody chooses another one.
    _, team = map(TeamDesk(tenant).team, ("Orders", "Returns"))
    visitor.submit(visitor.get(f"{at}/edit").form(f"{at}/edit"), team_id=team)
    admin.call("DELETE", f"{TEAMS}/{team}")
    page = visitor.submit(visitor.get(f"{at}/edit").form(f"{at}/edit"), signature="Bye")
    shown = admin.get(f"{MAILBOXES}/{at.rpartition('/')[2]}").json()["data"]
    assert (shown["signature"], shown["team_id"]) == ("Bye", team)
    page = visitor.submit(page.form(f"{at}/pause"))
    assert "Paused" in page.text
    page = visitor.submit(page.form(f"{at}/resume"))
    assert "Paused" not in page.text
    visitor.submit(visitor.get(f"{at}/delete").form(f"{at}/delete"))
    page = visitor.get(HOME)
    assert "No mailboxes yet" in page.text and address in page.text
    visitor.submit(page.form(f"{HOME}/former"), address=address)
    assert f" {address} " not in visitor.get(HOME).text


def test_a_mailbox_that_no_server_listens_for_says_so(
    template: Path, tmp_path: Path, address: str
) -> None:
    for listen, is_said in (("", True), (f"127.0.0.1:{free_port()}", False)):
        directory = tmp_path / f"{is_said}"
        directory.mkdir()
        with running(directory, template, SEALDESK_MAIL_LISTEN=listen) as service:
            visitor = logged_in(service.tenant())
            page = _add(visitor, address, receives="smtp")
            assert ("sets SEALDESK_MAIL_LISTEN" in page.text) == is_said
            page = _add(visitor, f"no.{address}", receives="no", smtp_host="smtp.acme.test")
            assert "SEALDESK_MAIL_LISTEN" not in page.text


def test_a_wrong_field_has_its_message_and_no_password_comes_back(
    visitor: Visitor, address: str
) -> None:
    page = _add(visitor, address, receives="imap", imap_password=PASSWORD)
    assert page.status == 422
    assert ("p", "id", "imap_host-fault") in page.attributes
    assert PASSWORD not in page.text and "correct" not in page.text
    assert page.form(NEW).value("address") == address


def test_a_taken_address_is_told(visitor: Visitor, tenant: Tenant, address: str) -> None:
    made(tenant.admin(), address)
    page = _add(visitor, address)
    assert page.status == 409 and "has or had" in page.text


def test_a_problem_is_in_the_list_and_on_the_page(
    service: Service, visitor: Visitor, tenant: Tenant, address: str
) -> None:
    mailbox_id = made(tenant.admin(), address)["id"]
    assert "A mailbox does not work" not in visitor.get(HOME).text
    set_problem(service, tenant, mailbox_id, "receiving", Failure("folder_missing", "NO Inbox"))
    page = visitor.get(HOME)
    assert "A mailbox does not work" in page.text and "receiving fails since" in page.text
    page = visitor.get(f"{HOME}/{mailbox_id}")
    for words in ("The folder cannot be opened.", "NO Inbox", "Choose another folder"):
        assert words in page.text
    set_problem(service, tenant, mailbox_id, "receiving", None)
    assert "A mailbox does not work" not in visitor.get(HOME).text


def test_a_problem_is_on_each_page_of_an_administrator_and_on_no_other(
    service: Service, visitor: Visitor, tenant: Tenant, address: str
) -> None:
    banner = "Show what is wrong"
    mailbox_id = made(tenant.admin(), address)["id"]
    assert banner not in visitor.get("/customers").text
    set_problem(service, tenant, mailbox_id, "receiving", Failure("folder_missing", "NO Inbox"))
    page = visitor.get("/customers")
    assert banner in page.text
    assert_page_is_secure(page)
    assert banner not in visitor.get(HOME).text, "the page says more itself"
    email = f"agent{mailbox_id[-8:]}@example.test"
    tenant.user("agent", email)
    assert banner not in logged_in(Tenant(service, tenant.id, email)).get("/customers").text
    set_problem(service, tenant, mailbox_id, "receiving", None)
    assert banner not in visitor.get("/customers").text


def test_the_test_shows_each_step_and_what_to_do(
    visitor: Visitor, tenant: Tenant, servers: MailServers, address: str
) -> None:
    fields = {"smtp_host": "localhost", "smtp_port": servers.smtps_port}
    log_in = {"smtp_username": USERNAME, "smtp_password": "wrong"}
    at = f"{HOME}/{made(tenant.admin(), address, **fields, **log_in)['id']}"
    page = visitor.submit(visitor.get(at).form(f"{at}/test"))
    for words in ("Something does not work yet", "Failed", "Skipped", "Check the user name"):
        assert words in page.text
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    page = visitor.submit(form, smtp_password=PASSWORD)
    page = visitor.submit(page.form(f"{at}/test"))
    assert "Everything works." in page.text
    assert_page_is_secure(page)


def test_senders_are_blocked_and_unblocked(visitor: Visitor) -> None:
    form = visitor.get(HOME).form(f"{HOME}/blocks")
    page = visitor.submit(form, pattern="nothing")
    assert page.status == 422 and ("p", "id", "pattern-fault") in page.attributes
    page = visitor.submit(page.form(f"{HOME}/blocks"), pattern="@SPAM.test")
    assert "@spam.test" in page.text
    page = visitor.submit(page.form(f"{HOME}/blocks/remove"))
    assert "@spam.test" not in page.text
