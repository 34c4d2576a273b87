"""The connection test says what the DNS records of the mail domain lack."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import dns.asyncresolver
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from sealdesk.mail.mailboxes import domain_check
from sealdesk.mail.mailboxes.domain_check import (
    MESSAGES,
    LookUp,
    LookupFailed,
    check_domain,
    look_up,
)
from tests.mail.mailboxes.stored import MAILBOXES, made
from tests.support.pages import logged_in
from tests.support.service import Tenant

COMPLETE = {
    ("shop.com", "MX"): ["mx.shop.com."],
    ("shop.com", "TXT"): ["site-proof=1", "v=spf1 include:_spf.shop.com -all"],
    ("_dmarc.shop.com", "TXT"): ["v=DMARC1; p=none"],
    ("selector1._domainkey.shop.com", "TXT"): ["v=DKIM1; k=rsa; p=MIIB"],
}


def resolver(records: dict[tuple[str, str], list[str]]) -> LookUp:
    async def look_up(name: str, kind: str) -> list[str]:
        return records.get((name, kind), [])

    return look_up


async def silent(_name: str, _kind: str) -> list[str]:
    raise LookupFailed


@pytest.mark.parametrize(
    ("left_out", "fault"),
    [
        (("shop.com", "MX"), "mx_missing"),
        (("shop.com", "TXT"), "spf_missing"),
        (("selector1._domainkey.shop.com", "TXT"), "dkim_missing"),
        (("_dmarc.shop.com", "TXT"), "dmarc_missing"),
    ],
)
def test_what_a_domain_lacks_is_found(left_out: tuple[str, str], fault: str) -> None:
    records = {key: found for key, found in COMPLETE.items() if key != left_out}
    assert asyncio.run(check_domain("help@shop.com", resolver(records))) == (fault,)


def test_a_complete_domain_lacks_nothing_and_dmarc_may_be_of_the_one_above() -> None:
    assert asyncio.run(check_domain("help@Shop.com", resolver(COMPLETE))) == ()
    below = asyncio.run(check_domain("help@mail.shop.com", resolver(COMPLETE)))
    assert below == ("mx_missing", "spf_missing", "dkim_missing")


def test_a_domain_that_takes_no_mail_has_no_mx() -> None:
    records = {**COMPLETE, ("shop.com", "MX"): ["."]}
    assert asyncio.run(check_domain("help@shop.com", resolver(records))) == ("mx_missing",)


@pytest.fixture
def name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One that knows shop.com, and cannot answer for other.com."""
    records = {("shop.com.", "MX"): ["10 mx.shop.com."], ("shop.com.", "TXT"): ['"v=spf1 " "-all"']}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))

        def answer() -> None:
            while (packet := sock.recvfrom(4096))[0]:
                (question,) = (query := dns.message.from_wire(packet[0])).question
                response = dns.message.make_response(query, recursion_available=True)
                name, kind = str(question.name), dns.rdatatype.to_text(question.rdtype)
                if found := records.get((name, kind)):
                    response.answer = [dns.rrset.from_text(name, 60, "IN", kind, *found)]
                elif not name.endswith("shop.com."):
                    response.set_rcode(dns.rcode.SERVFAIL)
                sock.sendto(response.to_wire(), packet[1])

        thread = threading.Thread(target=answer)
        thread.start()
        asked = dns.asyncresolver.Resolver(configure=False)
        asked.nameservers, asked.port = ["127.0.0.1"], sock.getsockname()[1]
        monkeypatch.setattr(dns.asyncresolver, "default_resolver", asked)
        yield
        sock.sendto(b"", sock.getsockname())
        thread.join()


@pytest.mark.usefixtures("name_server")
def test_a_name_server_is_asked() -> None:
    assert asyncio.run(look_up("shop.com", "MX")) == ["mx.shop.com."]
    assert asyncio.run(look_up("shop.com", "TXT")) == ["v=spf1 -all"]
    assert asyncio.run(look_up("_dmarc.shop.com", "TXT")) == []
    with pytest.raises(LookupFailed):
        asyncio.run(look_up("other.com", "MX"))


def test_no_answer_is_said_and_reserved_domains_are_not_asked() -> None:
    assert asyncio.run(check_domain("help@shop.com", silent)) == ("not_checked",)
    assert asyncio.run(check_domain("help@shop.test", silent)) == ()


def test_the_domain_of_a_mailbox_is_assigned_to_the_desk_that_its_dns_names(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain, other = f"p{tenant.id[-12:]}.com", tenant.service.tenant()
    admin, stranger = tenant.admin(), other.admin()
    owned, theirs = (
        made(each, f"{name}@{domain}", receives="smtp")["id"]
        for each, name in ((admin, "help"), (stranger, "sales"))
    )
    names = {(domain, "TXT"): ["v=spf1 -all", f"sealdesk-tenant={tenant.id}"]}
    for records, status in (({}, 201), (names, 409)):
        monkeypatch.setattr(domain_check, "look_up", resolver(records))
        assert stranger.post(f"{MAILBOXES}/{theirs}/test").status_code == 200
        for _ in range(2):
            assert admin.post(f"{MAILBOXES}/{owned}/test").status_code == 200
        new = {"address": f"a{status}@{domain}", "receives": "smtp"}
        assert stranger.post(MAILBOXES, new).status_code == status
    theirs_too = {(domain, "TXT"): [f"sealdesk-tenant={other.id}"]}
    monkeypatch.setattr(domain_check, "look_up", resolver(theirs_too))
    assert stranger.post(f"{MAILBOXES}/{theirs}/test").status_code == 200
    assert admin.post(MAILBOXES, {"address": f"b@{domain}", "receives": "smtp"}).status_code == 201


def test_the_test_of_a_mailbox_shows_what_its_domain_lacks(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain_check, "look_up", resolver({}))
    admin = tenant.admin()
    mailbox_id = made(admin, f"help@d{tenant.id[-12:]}.com", receives="smtp")["id"]
    result = admin.post(f"{MAILBOXES}/{mailbox_id}/test").json()["data"]
    missing = [text for code, text in MESSAGES.items() if code != "not_checked"]
    assert result["is_working"] and result["domain"] == missing
    visitor, at = logged_in(tenant), f"/settings/email/{mailbox_id}"
    page = visitor.submit(visitor.get(at).form(f"{at}/test"))
    assert MESSAGES["spf_missing"] in page.text
