"""`sealdesk mail held` and `sealdesk mail release` in a terminal."""

import pytest

from tests.cli.terminal import Terminal
from tests.mail.receiving.killing import Place
from tests.mail.receiving.test_killing import place
from tests.mail.support import message, receiving
from tests.support.databases import SQLITE_FIRST

__all__ = ["place"]
_NOBODY = "0" * 26


@pytest.fixture
def terminal(place: Place) -> Terminal:
    return Terminal(place.data_dir, **place.env)


def take(place: Place, *messages: bytes) -> None:
    with place.looked_at() as service, receiving(service) as receiver:
        for each in messages:
            receiver.send(each, place.address, sender="ann@example.test")


@SQLITE_FIRST
def test_what_waits_is_listed_with_its_reason_and_released_once(
    place: Place, terminal: Terminal
) -> None:
    tenant = ("--tenant", place.tenant_id)
    assert terminal.out("mail", "held", *tenant) == "Nothing waits.\n"
    assert terminal.json("mail", "held", *tenant) == []
    spam = {"X_Spam_Flag": "YES"}
    take(
        place,
        message(subject="Real"),
        message(subject="Old", **spam),
        message(subject="New", **spam),
    )
    listed = terminal.out("mail", "held", *tenant).splitlines()
    assert [line.split()[:2] for line in listed[:1]] == [["ID", "OUTCOME"]]
    assert ["New" in listed[1], "Old" in listed[2], len(listed)] == [True, True, 3]
    assert all("marked by the mail server" in line for line in listed[1:])
    newest, oldest = terminal.json("mail", "held", *tenant)
    assert (newest["subject"], newest["outcome"]) == ("New", "spam")
    released = terminal.out("mail", "release", oldest["id"], *tenant)
    assert released.startswith("Released: it has opened the ticket ")
    assert sorted(place.tickets()) == ["Old", "Real"]
    assert [each["subject"] for each in terminal.json("mail", "held", *tenant)] == ["New"]
    again = terminal.refused("mail", "release", oldest["id"], *tenant)
    assert "does not wait" in again
    assert len(place.tickets()) == 2


@SQLITE_FIRST
def test_what_is_not_there_is_said(place: Place, terminal: Terminal) -> None:
    tenant = ("--tenant", place.tenant_id)
    assert "no such message" in terminal.refused("mail", "release", _NOBODY, *tenant)
    for command in (("held",), ("release", _NOBODY)):
        refusal = terminal.refused("mail", *command, "--tenant", _NOBODY)
        assert "no such tenant" in refusal


@SQLITE_FIRST
def test_a_sender_cannot_write_to_the_terminal(place: Place, terminal: Terminal) -> None:
    subject = "=?utf-8?q?red_=1B[31m_and_=C2=9B31m_=E2=80=AEback?="
    raw = message(subject="SUBJECT", X_Spam_Flag="YES").replace(b"SUBJECT", subject.encode())
    take(place, raw)
    listed = terminal.out("mail", "held", "--tenant", place.tenant_id)
    assert "red" in listed and "back" in listed
    assert not {"\x1b", "\x9b", "\u202e"} & set(listed)
