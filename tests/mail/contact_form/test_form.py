"""What somebody writes with the form becomes a ticket once they have confirmed it by e-mail."""

from collections.abc import Callable

import pytest

from sealdesk import ids
from sealdesk.mail.contact_form import rules
from sealdesk.mail.threads import rules as threads
from sealdesk.routes import PAGES, ROUTES
from tests.mail.contact_form.support import ANN, FormDesk, Stranger, refused_at
from tests.support.mail_server import MailServer
from tests.support.page_security import assert_page_is_secure
from tests.support.service import Tenant

SENT = "confirm it within 24 hours"
HOSTILE = "\"'></title></textarea><svg/onload=alert(1)>{{7**9}}"


def submissions(desk: FormDesk) -> int:
    sql = "SELECT count(*) FROM form_submissions WHERE tenant_id = :id LIMIT 1"
    return int(desk.service.rows(sql, id=desk.tenant.id)[0][0])


def test_a_confirmed_form_is_a_ticket_and_its_customer_gets_the_reply(desk: FormDesk) -> None:
    ann = Stranger(desk)
    page = ann.write(name="Ann", subject=" A  broken bowl ")
    assert page.status == 200 and SENT in page.text
    assert_page_is_secure(page, scripts=0)
    link = desk.link()
    page = ann.get(link)
    assert_page_is_secure(page, scripts=0)
    assert page.answer.headers["x-robots-tag"] == "noindex, nofollow"
    assert page.answer.headers["cache-control"] == "private, no-store"
    assert desk.tickets() == [], "programs open links too"
    form = page.form(link)
    page = ann.submit(form)
    assert page.status == 200 and "Your request has arrived" in page.text
    (ticket,) = desk.tickets()
    assert (ticket["subject"], ticket["description"]) == ("A broken bowl", "It has a crack.")
    assert (ticket["customer"]["email"], ticket["customer"]["name"]) == (ANN, "Ann")
    assert ann.submit(form).status == 404
    assert len(desk.tickets()) == 1
    desk.reply(ticket, "We send another one.")
    assert "We send another one." in desk.mails(2)[1]


def test_the_message_says_nothing_that_was_typed(desk: FormDesk) -> None:
    typed = {"name": "Zoltan\r\nBcc: all@customer.example", "subject": "Quixote\r\nTo: b@c.example"}
    page = Stranger(desk).write(**typed, description="Win money at https://bad.example")
    assert SENT in page.text
    desk.mails(1)
    (got,) = desk.server.received
    for word in (b"Zoltan", b"Quixote", b"bad.example", b"all@customer", b"b@c.example"):
        assert word not in got.raw
    message = got.message
    assert message["to"] == ANN and message["auto-submitted"] == "auto-generated"
    assert message["bcc"] is None and desk.address in message["from"]


def test_a_german_browser_gets_a_german_form_and_message(desk: FormDesk) -> None:
    ann = Stranger(desk)
    page = ann.get(ann.path, accept_language="de-AT,de;q=0.9")
    assert 'lang="de"' in page.answer.text and "Ihre E-Mail-Adresse" in page.text
    desk.service.clock.advance(3)
    fields = [*page.form(ann.path).fields, ("email", ANN), ("subject", "S"), ("description", "D")]
    ann.post(ann.path, [f for f in fields if f[1]], accept_language="de")
    assert "innerhalb von 24 Stunden" in desk.mails(1)[0]


def test_addresses_that_get_no_message_are_not_told_from_others(
    desk: FormDesk, tenant: Tenant
) -> None:
    tenant.admin().post("/api/v1/mail-blocks", {"pattern": "@blocked.example"})
    for address in (
        "bo@blocked.example",
        desk.address,
        threads.reply_address(desk.address, "a" * 26),
    ):
        page = Stranger(desk).write(address)
        assert page.status == 200 and SENT in page.text
    answers = {Stranger(desk).write().text for _ in range(rules.MAX_OF_ADDRESS + 2)}
    assert len(answers) == 1
    assert submissions(desk) == desk.message_count() == rules.MAX_OF_ADDRESS
    desk.service.clock.advance(3600)
    Stranger(desk).write(ANN.upper())
    assert submissions(desk) == rules.MAX_OF_ADDRESS + 1


def test_what_nobody_confirms_is_deleted_after_a_day(desk: FormDesk) -> None:
    ann = Stranger(desk)
    ann.write()
    link = desk.link()
    form = ann.get(link).form(link)
    desk.service.clock.advance(24 * 3600)
    assert ann.get(link).status == 404
    page = ann.submit(form)
    assert page.status == 404 and "leads nowhere" in page.text
    desk.service.prune()
    assert (submissions(desk), desk.message_count(), desk.tickets()) == (0, 0, [])


def test_a_desk_with_too_many_unconfirmed_forms_takes_no_more(desk: FormDesk) -> None:
    sql = """INSERT INTO form_submissions
        (tenant_id, id, address, address_identity, language, request, created_at)
        VALUES (:tenant, :id, '', '', 'en', '{}', :now)"""
    now_us = desk.service.clock.now_us()
    rows = [
        {"tenant": desk.tenant.id, "id": ids.mint(now_us), "now": now_us}
        for _ in range(rules.MAX_WAITING)
    ]
    desk.service.write(lambda tx: tx.execute_many(sql, rows))
    page = Stranger(desk).write()
    assert page.status == 503 and "Write an e-mail instead" in page.text
    assert page.form(f"/{desk.name}/new").value("subject") == "Broken bowl"
    assert desk.message_count() == 0
    desk.service.clock.advance(24 * 3600)
    desk.service.prune()
    assert SENT in Stranger(desk).write().text


def test_a_token_of_another_desk_or_a_changed_one_confirms_nothing(
    desk: FormDesk, service_tenant: Callable[[], FormDesk]
) -> None:
    other = service_tenant()
    ann = Stranger(desk)
    ann.write()
    token = desk.link().rpartition("/")[2]
    last = "a" if token[-10] != "a" else "b"
    for name, tried in (
        (other.name, token),
        (desk.name, token[:-10] + last + token[-9:]),
        (desk.name, "a" * 58),
        (desk.name, token[:-1]),
        (desk.name, "x" * 5000),
        (desk.name, "%00"),
        (desk.name, "%C3%A9"),
        ("nobody", token),
        ("tickets", token),
    ):
        path = f"/{name}/confirm/{tried}"
        assert ann.once("GET", path).status_code in (404, 303), path
        assert Stranger(desk).post(path, []).status in (403, 404), path
    assert desk.tickets() == other.tickets() == []


def test_robots_that_fill_in_everything_or_at_once_send_nothing(
    desk: FormDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = Stranger(desk)
    assert SENT in robot.write(website="https://bad.example").text
    monkeypatch.setattr(rules, "FASTEST_US", 600_000_000)  # which no slow machine takes
    form = robot.get(robot.path).form(robot.path)
    fields = {"email": ANN, "subject": "S", "description": "D"}
    page = robot.submit(form, **fields)
    assert page.status == 422 and "very fast" in page.text
    assert page.form(robot.path).value("subject") == "S"
    desk.service.clock.advance(25 * 3600)
    page = robot.submit(form, **fields)
    assert page.status == 422 and "out of date" in page.text
    assert robot.submit(form, **fields, shown_at="").status == 422
    assert (submissions(desk), desk.message_count()) == (0, 0)


def test_wrong_fields_are_named_and_what_was_typed_comes_back_as_text(desk: FormDesk) -> None:
    ann = Stranger(desk)
    page = ann.write("nobody", subject=HOSTILE, name=HOSTILE, description=" ")
    assert page.status == 422 and "<svg" not in page.text
    assert_page_is_secure(page, scripts=0)
    ids = {value for tag, name, value in page.attributes if (tag, name) == ("p", "id")}
    assert {"email-fault", "description-fault"} <= ids
    form = page.form(ann.path)
    assert (form.value("subject"), form.value("name")) == (HOSTILE, HOSTILE)
    for field, length in (("subject", 256), ("name", 256), ("description", 20_001)):
        assert Stranger(desk).write(**{field: "x" * length}).status == 422, field
    assert Stranger(desk).write(description="x" * 2**20).status == 413
    assert submissions(desk) == 0


def test_a_client_that_sends_too_much_is_refused_and_others_are_not(desk: FormDesk) -> None:
    robot = Stranger(desk)
    # A slow machine may send one or two more: the budget fills up again meanwhile.
    assert 10 <= refused_at(lambda: robot.post(robot.path, []).status) < 30
    assert robot.get(robot.path).status == 200
    assert SENT in Stranger(desk).write().text
    assert refused_at(lambda: Stranger(desk).post(robot.path, []).status) < 60, "of one desk"
    desk.service.clock.advance(60)
    assert robot.post(robot.path, []).status == 422


def test_a_form_that_is_off_or_cannot_send_does_not_exist(
    desk: FormDesk, server: MailServer
) -> None:
    ann = Stranger(desk)
    ann.write()
    link = desk.link()
    desk.set_up(is_on=False)
    for path in (ann.path, link):
        assert ann.get(path).status == 404
        assert ann.post(path, []).status == 404
    desk.set_up()
    assert ann.get(link).status == 200
    path = f"/api/v1/mailboxes/{desk.mailbox.id}"
    assert desk.tenant.admin().delete(path).status_code == 204
    assert ann.get(ann.path).status == ann.get(link).status == 404


def test_an_undeliverable_confirmation_writes_no_note(desk: FormDesk) -> None:
    desk.server.answers[ANN] = ["550 5.1.1 No such user here"]
    Stranger(desk).write()
    Stranger(desk).write()
    desk.mails(1)
    assert desk.tickets() == []


def test_no_form_can_have_the_name_of_one_of_our_paths() -> None:
    firsts = {route.path.split("/")[1] for route in (*PAGES, *ROUTES)}
    own = {first for first in firsts if first and not first.startswith("{")}
    assert {"tickets", "api", "settings"} <= own
    assert [first for first in own if not rules.faults_of_name(first)] == []


def test_a_name_has_small_letters_digits_and_hyphens() -> None:
    wrong = ("", "a", "ab", "-acme", "acme-", "Acme", "ac me", "ac/me", "ac.me", "ämter", "a" * 64)
    assert [each for each in wrong if not rules.faults_of_name(each)] == []
    assert not rules.faults_of_name("acme-2")


def test_links_begin_with_an_address_of_a_website() -> None:
    wrong = (
        "",
        "desk.example.com",
        "javascript:alert(1)",
        "https://",
        "https://a b",
        "https://x/?q=1",
        "https://u:p@x.example",
        "https://x.example/#a",
        "https://x\r\nBcc: b@c.example",
        "https://x.example/" + "a" * 200,
        "ftp://x.example",
        "https://[::1",
        "https://x:99999",
    )
    assert [each for each in wrong if not rules.faults_of_url(each)] == []
    assert not rules.faults_of_url("https://desk.example.com/help")
