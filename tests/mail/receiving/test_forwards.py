"""What an agent forwards becomes a ticket of the customer."""

import pytest

from sealdesk.tickets.text.forwards import read_forward
from tests.mail.parsing.messages import multipart, part, with_header
from tests.mail.support import MX, Desk, message

OUTLOOK = """\
Von: Ann Lee <ann@customer.test>
Gesendet: Montag, 2. November 2026 10:00
An: Me <me@desk.test>
Betreff: Schale

Kaputt.
Frage: was nun?"""
GMAIL = """\
Please take over.

---------- Forwarded message ---------
From: Ann Lee <ann@customer.test>
Date: Mon, 2 Nov 2026 at 10:00
Subject: Bowl
To: <me@desk.test>


It broke."""
APPLE = """\
Begin forwarded message:

> From: Ann Lee <ann@customer.test>
> Subject: Bowl
> Date: 2 November 2026 at 10:00:00 CET
> To: me@desk.test
>
> It broke."""
THUNDERBIRD = """\
-------- Forwarded Message --------
Subject: \tBowl
Date: \tMon, 2 Nov 2026 10:00:00 +0100
From: \tAnn Lee <ann@customer.test>
To: \tme@desk.test

It broke."""
ZOHO = """\
============ Forwarded message ============
From: Ann Lee <ann@customer.test>
To: <me@desk.test>
Date: Mon, 02 Nov 2026 10:00:00 +0100
Subject: Bowl
============ Forwarded message ============

It broke."""
PROTON = """\
Please take over.

------- Forwarded Message -------
From: Ann Lee <ann@customer.test>
Date: On Monday, November 2nd, 2026 at 10:00 AM
Subject: Bowl
To: me@desk.test <me@desk.test>

> It broke.
>
> > Old."""
YANDEX = """\
-------- Пересылаемое сообщение --------
02.11.2026, 10:00, "Ann Lee" <ann@customer.test>:

It broke."""
EM_CLIENT = """\
------ Forwarded Message ------
From "Ann Lee" <ann@customer.test>
To me@desk.test
Date 02.11.2026 10:00:00
Subject Bowl

It broke."""
POLISH = """\
*Od:* Ann Lee <ann@customer.test>
*Wysłano:* poniedziałek, 2 listopada 2026 10:00
*Do:* me@desk.test
*Temat:* Miska

Pękła."""


@pytest.mark.parametrize(
    ("subject", "text", "before", "after"),
    [
        ("WG: Schale", OUTLOOK, "", "Kaputt.\nFrage: was nun?"),
        ("Schale", OUTLOOK, "", "Kaputt.\nFrage: was nun?"),
        (
            "WG: Schale",
            f"Bitte.\n\n---\n\n{'_' * 32}\n{OUTLOOK}",
            "Bitte.",
            "Kaputt.\nFrage: was nun?",
        ),
        ("Fwd: Bowl", GMAIL, "Please take over.", "It broke."),
        ("Fwd: Bowl", APPLE, "", "It broke."),
        ("Fwd: Bowl", THUNDERBIRD, "", "It broke."),
        ("Fwd: Bowl", ZOHO, "", "It broke."),
        ("Fwd: Bowl", PROTON, "Please take over.", "It broke.\n\n> Old."),
        ("Fwd: Bowl", THUNDERBIRD.replace(": \t", ": | "), "", "It broke."),
        ("PD: Miska", POLISH, "", "Pękła."),
        ("Fwd: Bowl", YANDEX, "", "It broke."),
        ("Fwd: Bowl", f"{YANDEX}\n\n-------- Конец сообщения --------", "", "It broke."),
        ("Fw: Bowl", EM_CLIENT, "", "It broke."),
        ("轉發: 碗", GMAIL, "Please take over.", "It broke."),
        ("[EXT] Fwd: Bowl", GMAIL, "Please take over.", "It broke."),
        ("[Fwd: Bowl]", GMAIL, "Please take over.", "It broke."),
    ],
    ids=[
        "outlook",
        "no mark",
        "outlook in html",
        "gmail",
        "apple",
        "thunderbird",
        "zoho",
        "proton",
        "a table",
        "polish",
        "yandex",
        "its end",
        "em client",
        "chinese",
        "tag",
        "brackets",
    ],
)
def test_the_customer_of_a_forward_is_read(
    subject: str, text: str, before: str, after: str
) -> None:
    found = read_forward(subject, text)
    assert found is not None
    assert (found.name, found.address) == ("Ann Lee", "ann@customer.test")
    assert (found.before, found.text) == (before, after)
    assert subject.rstrip("]").endswith(found.subject) and ":" not in found.subject


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Re: Bowl", f"My answer.\n\n{OUTLOOK}"),
        ("Fwd: Bowl", OUTLOOK.replace("Ann Lee <ann@customer.test>", "Ann Lee")),
        ("Fwd: Bowl", "From: nobody\nJust words."),
        ("Fwd: Bowl", "--- Words ---\nFrom Ann Lee I heard of\nme@desk.test, and of no date"),
    ],
    ids=["an answer", "no address", "no header", "no fields"],
)
def test_what_forwards_nothing_has_no_customer(subject: str, text: str) -> None:
    found = read_forward(subject, text)
    assert found is None or found.address != "ann@customer.test"


def test_a_forward_has_a_mark_of_its_language() -> None:
    for mark in ("Prosljeđeno: ", "Persiųsta:", "Přep.: ", "Pārs: ", "Препр: ", "TRS: ", "YML: "):
        found = read_forward(f"{mark}Bowl", GMAIL)
        assert found is not None and (found.address, found.subject) == ("ann@customer.test", "Bowl")


def forward(desk: Desk, agent: str, result: str, text: str = GMAIL) -> None:
    raw = message(
        text,
        sender=f"Eve <{agent}>",
        to=desk.address,
        subject="Fwd: Bowl",
        Authentication_Results=f"{MX}; {result}",
    )
    desk.get_mail(raw, sender=agent)


def test_an_agent_opens_a_ticket_on_behalf_of_the_customer(desk: Desk) -> None:
    forward(desk, desk.tenant.admin_email, "dmarc=pass")
    ticket = desk.ticket()
    assert ticket["customer"]["email"] == "ann@customer.test"
    assert (ticket["subject"], ticket["description"]) == ("Bowl", "It broke.")
    assert list(desk.tokens(ticket)) == ["ann@customer.test"]
    (note,) = desk.replies(ticket)
    assert note["is_internal"] and "on behalf of Ann Lee <ann@customer.test>" in note["body"]
    assert "Please take over." in note["body"]


@pytest.mark.parametrize("result", ["dmarc=none", "dmarc=fail"])
def test_nobody_forwards_as_an_agent_without_a_proof(desk: Desk, result: str) -> None:
    forward(desk, desk.tenant.admin_email, result)
    assert desk.ticket()["customer"]["email"] == desk.tenant.admin_email


def test_a_message_may_be_forwarded_as_a_file(desk: Desk) -> None:
    agent = desk.tenant.admin_email
    head = (
        f"From: Eve <{agent}>\r\nTo: {desk.address}\r\nSubject: Fwd: Bowl\r\n"
        f"Authentication-Results: {MX}; dmarc=pass\r\n"
    )
    inner = b"From: Ann Lee <ann@customer.test>\r\nSubject: Bowl\r\n\r\nIt broke.\r\n"
    parts = [part("text/plain", "Please take over."), part("message/rfc822", inner)]
    desk.get_mail(with_header(multipart("mixed", parts), head.encode()), sender=agent)
    ticket = desk.ticket()
    assert ticket["customer"]["email"] == "ann@customer.test"
    assert (ticket["subject"], ticket["description"]) == ("Bowl", "It broke.")
    assert "Please take over." in desk.replies(ticket)[0]["body"]


def test_the_words_of_a_message_that_is_only_a_file_are_shown(desk: Desk) -> None:
    inner = b"From: Ann Lee <ann@customer.test>\r\nSubject: Bowl\r\n\r\nIt broke.\r\n"
    head = f"From: bo@customer.test\r\nTo: {desk.address}\r\nSubject: See below\r\n"
    desk.get_mail(with_header(part("message/rfc822", inner), head.encode()))
    shown = "From: Ann Lee <ann@customer.test>\nSubject: Bowl\n\nIt broke."
    assert desk.ticket()["description"] == f"[Attached message]\n{shown}"
    assert desk.ticket()["customer"]["email"] == "bo@customer.test"


def test_the_words_that_a_list_wraps_stand_above_its_footer(desk: Desk) -> None:
    inner = b"From: Ann Lee <ann@customer.test>\r\nSubject: Bowl\r\n\r\nIt broke.\r\n"
    head = "From: Ann via Team <team@lists.test>\r\nList-Id: <team.lists.test>\r\n"
    parts = [part("message/rfc822", inner), part("text/plain", "Team list")]
    desk.get_mail(with_header(multipart("mixed", parts), head.encode()))
    assert desk.ticket()["description"].endswith("Subject: Bowl\n\nIt broke.\n\nTeam list")


def test_a_customer_forwards_for_nobody_else(desk: Desk) -> None:
    forward(desk, "bo@customer.test", "dmarc=pass")
    assert desk.ticket()["customer"]["email"] == "bo@customer.test"


def test_a_forward_of_the_desks_own_message_is_the_agents(desk: Desk) -> None:
    text = GMAIL.replace("ann@customer.test", desk.address)
    forward(desk, desk.tenant.admin_email, "dmarc=pass", text)
    assert desk.ticket()["customer"]["email"] == desk.tenant.admin_email
