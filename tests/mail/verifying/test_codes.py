"""Among several desks, a mailbox gets an address once it is verified to be the desk's."""

import re
import smtplib
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any, NamedTuple

import pytest

from sealdesk.caller import SYSTEM, Caller, without_rights
from sealdesk.installation.store import notes
from sealdesk.mail.mailboxes import actions, domain_check
from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.mailboxes.store.directory import EVERYBODY, Domain
from sealdesk.mail.mailboxes.types import Consent
from sealdesk.records import test_tenants
from tests.mail.mailboxes.conftest import LOOPBACK
from tests.mail.mailboxes.stored import MAILBOXES, verify
from tests.mail.support import Receiver, receiving
from tests.support.client import Person
from tests.support.databases import Begin
from tests.support.mail_server import MailServer, mail_server
from tests.support.pages import logged_in
from tests.support.service import Service, Tenant

SENDER = "codes@operator.example"


@pytest.fixture(scope="module")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("address_codes"), SEALDESK_MAIL_SENDER=SENDER) as service:
        service.tenant("Other")
        yield service


@pytest.fixture(scope="module")
def receiver(shared_service: Service) -> Iterator[Receiver]:
    with receiving(shared_service) as receiver:
        yield receiver


@pytest.fixture(scope="module")
def outbox(shared_service: Service) -> Iterator[MailServer]:
    """What the installation's own mailbox sends to."""
    with mail_server() as server:
        admin = shared_service.tenant("Operator").admin()
        sends = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
        new = {"address": SENDER, "receives": "smtp", **sends}
        made = create(admin, **new)
        verify(admin, made["id"], SENDER)
        yield server


class Waiting(NamedTuple):
    """A desk with a mailbox that waits."""

    tenant: Tenant
    admin: Person
    shown: dict[str, Any]

    @property
    def at(self) -> str:
        return f"{MAILBOXES}/{self.shown['id']}"

    def send_code(self, address: str = "") -> int:
        wanted = {"address": address or self.shown["address"]}
        return self.admin.post(f"{self.at}/code", wanted).status_code

    def verify(self, code: str, address: str = "") -> Any:
        given = {"address": address or self.shown["address"], "code": code}
        return self.admin.post(f"{self.at}/verify", given)

    def get(self) -> dict[str, Any]:
        return dict(self.admin.get(self.at).json()["data"])


def create(admin: Person, **new: Any) -> dict[str, Any]:
    created = admin.post(MAILBOXES, new)
    assert created.status_code == 201, created.text
    return dict(created.json()["data"])


def mailbox_of(tenant: Tenant, name: str = "help", **new: Any) -> Waiting:
    admin = tenant.admin()
    address = f"{name}@p{tenant.id[-12:]}.example"
    return Waiting(tenant, admin, create(admin, **{"address": address, "receives": "smtp", **new}))


def code_in(message: EmailMessage) -> str:
    found = re.search(r"^[a-z2-7]{40,}\s*$", message.get_content(), re.MULTILINE)
    assert found, message.get_content()
    return found[0].strip()


def test_an_address_that_nobody_has_verified_receives_and_sends_nothing(
    tenant: Tenant, receiver: Receiver, outbox: MailServer
) -> None:
    desk = mailbox_of(tenant)
    address = desk.shown["address"]
    assert (desk.shown["unverified_addresses"], desk.shown["is_paused"]) == ([address], True)
    with pytest.raises(smtplib.SMTPRecipientsRefused):
        receiver.send(b"Subject: Hello\r\n\r\nHello\r\n", address)
    refused = desk.admin.patch(desk.at, {"is_paused": False})
    assert (refused.status_code, refused.json()["code"]) == (409, "mailbox_address_unverified")
    assert desk.get()["is_paused"]
    # Whoever has it may still verify it: nothing was taken from them.
    owner = Waiting(other := tenant.service.tenant(), other.admin(), {})
    theirs = owner._replace(shown=create(owner.admin, address=address, receives="smtp"))
    assert theirs.send_code() == 204
    code = code_in(outbox.received[-1].message)
    assert theirs.verify(code).json()["data"]["unverified_addresses"] == []
    for answer in (desk.verify(code), desk.admin.post(MAILBOXES, {"address": f"x+1@{address}"})):
        assert answer.status_code in (409, 422)
    assert desk.send_code() == 409
    assert desk.verify(code).json()["code"] == "mailbox_address_taken"
    receiver.send(b"Subject: Hello\r\n\r\nHello\r\n", address)
    assert len(theirs.tenant.key().get("/api/v1/external/tickets").json()["data"]) == 1


def test_two_mailboxes_of_a_desk_do_not_wait_for_one_address(tenant: Tenant) -> None:
    desk, other = mailbox_of(tenant), mailbox_of(tenant, "info")
    address = desk.shown["address"]
    for refused in (
        desk.admin.post(MAILBOXES, {"address": address.upper(), "receives": "smtp"}),
        desk.admin.patch(other.at, {"address": address}),
        desk.admin.patch(other.at, {"aliases": [address]}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "mailbox_address_taken")


def test_a_code_verifies_one_address_for_one_desk_for_an_hour(
    tenant: Tenant, outbox: MailServer
) -> None:
    desk = mailbox_of(tenant, aliases=[alias := f"sales@p{tenant.id[-12:]}.example"])
    assert desk.send_code() == 204
    sent = outbox.received[-1]
    assert (sent.sender, sent.recipients) == (SENDER, [desk.shown["address"]])
    assert "Acme" in sent.message.get_content() and sent.message["Auto-Submitted"]
    code = code_in(sent.message)
    stranger = tenant.service.tenant()
    theirs = mailbox_of(stranger)._replace(admin=stranger.admin())
    create(theirs.admin, address=desk.shown["address"])
    for wrong in (code[:-1], f"{code}a", "", code[::-1]):
        assert desk.verify(wrong).json()["code"] == "address_code_refused"
    assert desk.verify(code, alias).json()["code"] == "address_code_refused"
    assert theirs.verify(code).json()["code"] == "address_code_refused"
    assert desk.verify(code, "other@example.com").status_code == 404
    tenant.service.clock.advance(3601)
    desk = desk._replace(admin=tenant.admin())
    assert desk.verify(code).json()["code"] == "address_code_refused"
    assert desk.send_code() == 204
    code = code_in(outbox.received[-1].message)
    verified = desk.verify(f" {code.upper()}\n").json()["data"]
    assert (verified["unverified_addresses"], verified["is_paused"]) == ([alias], False)
    assert desk.verify(code).status_code == 404


def test_three_codes_are_sent_in_a_day_and_five_are_tried_in_an_hour(
    tenant: Tenant, outbox: MailServer
) -> None:
    desk = mailbox_of(tenant)
    assert [desk.send_code() for _ in range(4)] == [204, 204, 204, 429]
    code = code_in(outbox.received[-1].message)
    assert [desk.verify("wrong").status_code for _ in range(6)] == [*[409] * 5, 429]
    assert desk.verify(code).status_code == 429
    # Also after the mailbox was made anew.
    assert desk.admin.delete(desk.at).status_code == 204
    again = desk._replace(shown=create(desk.admin, address=desk.shown["address"]))
    assert again.send_code() == 429 and again.verify(code).status_code == 429
    tenant.service.clock.advance(24 * 3600 + 1)
    again = again._replace(admin=tenant.admin())
    assert again.send_code() == 204


def test_a_code_is_never_delivered_inside_the_installation(
    tenant: Tenant, receiver: Receiver, outbox: MailServer
) -> None:
    desk = mailbox_of(tenant)
    desk.send_code()
    sent = outbox.received[-1]
    other = tenant.service.tenant()
    catching = create(other.admin(), address=f"all@p{other.id[-12:]}.example", receives="smtp")
    verify(other.admin(), catching["id"], catching["address"])
    receiver.send(sent.raw, catching["address"], sender=SENDER)
    forwarded = (
        b"Subject: Fwd\r\nFrom: ann@example.test\r\n\r\n> " + sent.message.get_content().encode()
    )
    receiver.send(forwarded, catching["address"])
    sql = "SELECT * FROM received_messages WHERE tenant_id = :tenant ORDER BY id LIMIT 100"
    dropped, _ = tenant.service.rows(sql, tenant=other.id)
    assert (dropped["outcome"], dropped["raw_until"]) == ("ignored", None)
    assert "never delivered" in dropped["reason"]
    raw = other.admin().get(f"/api/v1/received-messages/{dropped['id']}/raw")
    assert raw.status_code >= 400
    (ticket,) = other.key().get("/api/v1/external/tickets").json()["data"]
    assert code_in(sent.message) not in ticket["description"]


def assign(service: Service, tenant: Tenant, domain: Domain) -> None:
    caller, now_us = without_rights(tenant.id, SYSTEM), service.clock.now_us()
    service.write(lambda tx: actions.assign_domain(tx, caller, domain, now_us=now_us))


def test_the_test_looks_at_the_domain_of_an_alias_that_waits(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = f"a{tenant.id[-12:]}.com"
    desk = mailbox_of(tenant, aliases=[f"sales@{domain}"])

    async def look_up(name: str, kind: str) -> list[str]:
        return [f"sealdesk-tenant={tenant.id}"] if (name, kind) == (domain, "TXT") else []

    monkeypatch.setattr(domain_check, "look_up", look_up)
    assert desk.admin.post(f"{desk.at}/test").status_code == 200
    assert desk.get()["unverified_addresses"] == [desk.shown["address"]]


def test_the_domain_verifies_what_waits_and_what_comes(tenant: Tenant) -> None:
    desk, other = mailbox_of(tenant), tenant.service.tenant()
    name = f"@{desk.shown['address'].partition('@')[2]}"
    assign(tenant.service, tenant, Domain(name, tenant.id))
    assert (desk.get()["unverified_addresses"], desk.get()["is_paused"]) == ([], False)
    assert create(desk.admin, address=f"more{name}")["unverified_addresses"] == []
    assert other.admin().post(MAILBOXES, {"address": f"x{name}"}).status_code == 409
    shared = f"@s{tenant.id[-12:]}.example"
    assign(tenant.service, tenant, Domain(shared, EVERYBODY))
    for each in (tenant, other):
        made = create(each.admin(), address=f"d{each.id[-12:]}{shared}")
        assert made["unverified_addresses"] == []


def test_the_consent_of_the_account_verifies_its_address_and_an_application_does_not(
    tenant: Tenant,
) -> None:
    desk, service = mailbox_of(tenant, aliases=[f"b@p{tenant.id[-12:]}.example"]), tenant.service
    caller = Caller(tenant.id, SYSTEM, frozenset(), "")
    address, key_ring = desk.shown["address"], service.state.key_ring
    for provider, left in (("microsoft_application", 2), ("google", 1)):
        consent = Consent(provider, address, "token")  # type: ignore[arg-type] # a name of one
        now_us = service.clock.now_us()
        service.write(
            lambda tx, consent=consent, now_us=now_us: actions.connect_mailbox(  # type: ignore[misc]
                tx, caller, desk.shown["id"], consent, key_ring=key_ring, now_us=now_us
            )
        )
        assert len(desk.get()["unverified_addresses"]) == left
        assert desk.get()["is_paused"] == (left == 2)


def test_a_changed_address_waits_again_and_what_the_desk_had_does_not(tenant: Tenant) -> None:
    desk = mailbox_of(tenant)
    first, domain = desk.shown["address"], desk.shown["address"].partition("@")[2]
    verify(desk.admin, desk.shown["id"], first)
    assert not desk.get()["is_paused"]
    changed = desk.admin.patch(desk.at, {"address": f"new@{domain}"}).json()["data"]
    assert (changed["unverified_addresses"], changed["is_paused"]) == ([f"new@{domain}"], True)
    back = {"address": first, "aliases": [f"help+orders@{domain}", f"x@{domain}"]}
    changed = desk.admin.patch(desk.at, back).json()["data"]
    assert (changed["unverified_addresses"], changed["is_paused"]) == ([f"x@{domain}"], False)
    assert desk.admin.patch(desk.at, {"aliases": []}).json()["data"]["unverified_addresses"] == []


def test_the_page_says_what_to_do_and_takes_the_code(tenant: Tenant, outbox: MailServer) -> None:
    desk = mailbox_of(tenant)
    visitor, at = logged_in(tenant), f"/settings/email/{desk.shown['id']}"
    page = visitor.get(at)
    assert "Not yet verified" in page.text and f"sealdesk-tenant={tenant.id}" in page.text
    page = visitor.submit(page.form(f"{at}/code"))
    assert "A code was sent to" in page.text
    assert "This is no code" in visitor.submit(page.form(f"{at}/verify"), code="wrong").text
    page = visitor.submit(page.form(f"{at}/verify"), code=code_in(outbox.received[-1].message))
    assert "Not yet verified" not in page.text and not desk.get()["unverified_addresses"]


def test_what_cannot_be_sent_says_what_the_operator_can_do(
    tenant: Tenant, outbox: MailServer
) -> None:
    desk = mailbox_of(tenant)
    outbox.answers[desk.shown["address"]] = ["550 5.1.1 No such user"]
    answer = desk.admin.post(f"{desk.at}/code", {"address": desk.shown["address"]})
    assert (answer.status_code, answer.json()["code"]) == (409, "address_code_not_sent")
    assert "550" in answer.json()["detail"]
    assert f"sealdesk domains assign p{tenant.id[-12:]}.example" in answer.json()["detail"]


def test_while_there_is_one_desk_nothing_is_asked(begin: Begin, tmp_path: Any) -> None:
    with begin(tmp_path, **LOOPBACK) as service:
        desk, demo, test = (service.tenant(name) for name in ("One", "Demo", "Test"))
        now_us = service.clock.now_us()
        service.write(lambda tx: notes.put_once(tx, "demo", demo.id, now_us))
        service.write(lambda tx: test_tenants.add(tx, test.id, desk.id))
        made = create(desk.admin(), address="help@one.example", receives="smtp")
        assert made["unverified_addresses"] == []
        service.tenant("Two")
        assert service.read(directory.has_many_desks)
        waiting = mailbox_of(desk)
        assert waiting.shown["unverified_addresses"]
        assert desk.admin().get(f"{MAILBOXES}/{made['id']}").json()["data"]["is_paused"] is False
        answer = waiting.admin.post(f"{waiting.at}/code", {"address": waiting.shown["address"]})
        assert "has no mailbox that sends codes" in answer.json()["detail"]
