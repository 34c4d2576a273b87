"""Ways of getting into a foreign ticket: each ends in a ticket of its own or in a note."""

import base64
from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

import pytest

from sealdesk.crypto.reply_codes import new_reply_code
from tests.mail.support import Desk, Receiver, Ticket, message, message_id

SECRET = "The customer sees this."
EVE = "Eve <eve@evil.test>"
FIRST = "<first@example.test>"
INJECTED = "=?utf-8?q?x=0d=0aFrom:_ann@example.test?="


class Target(NamedTuple):
    """A ticket of Ann that Eve wants to write into, and one of Eve's own desk."""

    desk: Desk
    ticket: Ticket
    token: str
    address: str
    foreign_desk: Desk
    foreign_ticket: Ticket
    foreign_token: str


@pytest.fixture(scope="module")
def target(receiver: Receiver) -> Target:
    desk, foreign = Desk(receiver), Desk(receiver)
    desk.get_mail(message(Message_ID=FIRST))
    foreign.get_mail(message(Message_ID="<foreign@example.test>"))
    ticket, other = desk.ticket(), foreign.ticket()
    token = desk.tokens(ticket)["ann@example.test"]
    foreign_token = foreign.tokens(other)["ann@example.test"]
    return Target(desk, ticket, token, desk.address, foreign, other, foreign_token)


Attack = Callable[[Target], tuple[bytes, str]]


def _at(target: Target, token: str) -> str:
    """An address of the mailbox with this behind a plus."""
    local, _, domain = target.address.partition("@")
    return f"{local}+{token}@{domain}"


def _to(token: Callable[[Target], str], sender: str = EVE) -> Attack:
    """To an address with another token, as Ann unless a sender is given."""
    return lambda target: (message(SECRET, sender=sender), _at(target, token(target)))


def _with(sender: str = EVE, **headers: str) -> Attack:
    """To the mailbox itself, with these headers."""
    return lambda target: (message(SECRET, sender=sender, **headers), target.address)


def _raw(head: str, to: str = "") -> Attack:
    """With a head as it is, where TOKEN and FIRST may stand."""

    def made(target: Target) -> tuple[bytes, str]:
        filled = head.replace("TOKEN", target.token).replace("ADDRESS", _at(target, target.token))
        lines = f"Message-ID: {message_id()}\n{filled}\n\n{SECRET}\n"
        recipient = _at(target, target.token) if to == "token" else target.address
        return lines.replace("\n", "\r\n").encode("utf-8", "surrogateescape"), recipient

    return made


def _other(character: str) -> str:
    return "b" if character == "a" else "a"


def _base32(ticket_id: str) -> str:
    return base64.b32encode(UUID(ticket_id).bytes).decode().rstrip("=").lower()


ANN = "Ann <ann@example.test>"
GUESSES: dict[str, Attack] = {
    "a guessed token": _to(lambda _: new_reply_code(), ANN),
    "the token of another desk": _to(lambda target: target.foreign_token, ANN),
    "a token of zeros": _to(lambda _: "a" * 26, ANN),
    "a token with another end": _to(lambda t: t.token[:-1] + _other(t.token[-1]), ANN),
    "a token with another beginning": _to(lambda t: _other(t.token[0]) + t.token[1:], ANN),
    "the id of the ticket": _to(lambda t: _base32(t.ticket["id"]), ANN),
    "the number of the ticket in the subject": _with(ANN, subject="Re: [#1] A broken bowl"),
    "the subject of the ticket": _with(ANN, subject="Re: A broken bowl"),
    "the token in the subject": lambda t: (message(SECRET, sender=ANN, subject=t.token), t.address),
    "the token in the text": lambda t: (message(f"{SECRET} {t.token}", sender=ANN), t.address),
    "the token in the name of a recipient": lambda t: (
        message(SECRET, sender=ANN, to=f"desk+{t.token} <{t.address}>"), t.address),
    "the token at another domain": lambda t: (
        message(SECRET, sender=ANN, to=f"desk+{t.token}@evil.test"), t.address),
    "the token at another mailbox": lambda t: (
        message(SECRET, sender=ANN, to=f"{t.token}@acme.test"), t.address),
    "references of another desk": _with(ANN, References="<foreign@example.test>"),
    "in-reply-to of another desk": _with(ANN, In_Reply_To="<foreign@example.test>"),
    "a guessed message-id": _with(ANN, In_Reply_To="<first@example.tes>"),
    "a message-id in another case": _with(ANN, In_Reply_To="<FIRST@example.test>"),
    "a message-id as a comment": _with(ANN, In_Reply_To="(first@example.test)"),
    "a wildcard for the message-id": _with(ANN, In_Reply_To="<%@example.test> <*> <first%>"),
    "SQL in the message-id": _with(ANN, In_Reply_To="<' OR '1'='1>"),
    "SQL in the sender": _with("\"' OR '1'='1\"@example.test"),
    "the same message-id": _with(EVE, Message_ID=FIRST),
    "a resent message": _with(EVE, Resent_From=ANN, Resent_To="x@y.test"),
    "a reply-to of Ann": _with(EVE, Reply_To=ANN),
    "a sender header of Ann": _raw(f"From: {EVE}\nSender: {ANN}"),
    "a ticket header": _with(EVE, X_Sealdesk_Ticket="1", X_Ticket_Id="1"),
    "a delivered-to header": _with(EVE, Delivered_To="ann@example.test"),
}  # fmt: skip
# Whoever knows the token or a Message-ID, but does not write as a participant, gets into a note.
NOTES: dict[str, Attack] = {
    "the token of somebody else": _to(lambda target: target.token),
    "the token in upper case": _to(lambda target: target.token.upper()),
    "references of the ticket": _with(References=FIRST),
    "in-reply-to of the ticket": _with(In_Reply_To=FIRST),
    "the token in Cc": _raw(f"From: {EVE}\nCc: ADDRESS"),
    "the token in To": _raw(f"From: {EVE}\nTo: ADDRESS"),
    "no sender": _raw("Subject: x", "token"),
    "two senders": _raw(f"From: {EVE}, {ANN}", "token"),
    "two from headers": _raw(f"From: {EVE}\nFrom: {ANN}", "token"),
    "Ann in the name": _raw("From: \"ann@example.test\" <eve@evil.test>", "token"),
    "Ann in the name and a comment": _raw("From: ann@example.test (x) <eve@evil.test>", "token"),
    "Ann as a subdomain": _raw("From: ann@example.test.evil.test", "token"),
    "Ann with a dot behind": _raw("From: ann@example.test.", "token"),
    "Ann with a full-width letter": _raw("From: \uff41nn@example.test", "token"),
    "Ann with a Cyrillic letter": _raw("From: \u0430nn@example.test", "token"),
    "Ann with a combining mark": _raw("From: ann\u0301@example.test", "token"),
    "Ann with a zero-width space": _raw("From: ann\u200b@example.test", "token"),
    "Ann with a tag": _raw("From: ann+x@example.test", "token"),
    "Ann percent-encoded": _raw("From: ann%40example.test@evil.test", "token"),
    "Ann in a route": _raw("From: <@evil.test:eve@evil.test>, ann@example.test", "token"),
    "a line break in the name": _raw(f"From: {INJECTED} <eve@evil.test>", "token"),
    "a line break in the address": _raw("From: <eve@evil.test\r\n ann@example.test>", "token"),
    "a header injected by the subject": _raw(f"From: {EVE}\nSubject: {INJECTED}", "token"),
    "a folded from": _raw("From: Eve\n\t<eve@evil.test>\nX: From: ann@example.test", "token"),
    "a from in the body": _raw(f"From: {EVE}\n\nFrom: {ANN}\n", "token"),
    "a group": _raw("From: ann@example.test: eve@evil.test;", "token"),
    "an encoded address": _raw("From: =?utf-8?q?ann=40example=2Etest?= <eve@evil.test>", "token"),
    "a NUL behind Ann": _raw("From: ann@example.test\x00@evil.test", "token"),
    "a resent-from of Ann": _raw(f"From: {EVE}\nResent-From: {ANN}", "token"),
    "a sender of Ann": _raw(f"From: {EVE}\nSender: {ANN}", "token"),
}  # fmt: skip


def _public(target: Target) -> list[str]:
    return [each["body"] for each in target.desk.replies(target.ticket) if not each["is_internal"]]


def test_nobody_writes_into_a_foreign_ticket(target: Target) -> None:
    # Some of the second kind are so broken that they have no sender, or that Ann is not in them.
    allowed = dict.fromkeys(GUESSES, ("ticket",)) | dict.fromkeys(NOTES, ("note", "ticket"))
    found = {name: _attack(target, attack) for name, attack in (GUESSES | NOTES).items()}
    assert {name: each for name, each in found.items() if each not in allowed[name]} == {}


def _attack(target: Target, attack: Attack) -> str:
    """What was made of the message; the first wrong effect of it, if it has any."""
    raw, recipient = attack(target)
    before = target.desk.reread(target.ticket)
    target.desk.execute("UPDATE received_messages SET received_at = 0 WHERE tenant_id = :tenant")
    target.desk.get_mail(raw, to=recipient, sender="eve@evil.test")
    after = target.desk.reread(target.ticket)
    if public := _public(target):
        return f"public replies: {public}"
    if (after["status"], after["reply_count"]) != (before["status"], 0):
        return f"changed ticket: {after}"
    if replies := target.foreign_desk.replies(target.foreign_ticket):
        return f"replies to a foreign ticket: {replies}"
    return target.desk.outcomes()[-1]
