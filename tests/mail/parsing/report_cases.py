"""Reports about messages that were sent: RFC 3464, and those of older servers."""

from collections.abc import Iterator
from typing import Any

from sealdesk.mail.parsing.types import DeliveryStatus
from tests.mail.parsing.messages import Case, message, multipart, part, with_header

_HEADER = b"From: MAILER-DAEMON@mx.example\r\nReturn-Path: <>\r\nSubject: Undelivered\r\n"
_FROM_YAHOO = b"From: feedback@arf.mail.yahoo.example\r\nSubject: Complaint\r\n"
_SPAM_TEXT = "This is an e-mail abuse report."
_NOTICE = part("text/plain", "This is the mail system.")
_ORIGINAL = part("message/rfc822", "Message-ID: <r1.abc@desk.example>\r\nSubject: Re\r\n\r\nText")
_FAILED = (
    "Final-Recipient: rfc822; ann@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n"
    "Diagnostic-Code: smtp; 550 5.1.1 User unknown\r\n"
)
_DELAYED = "Final-Recipient: rfc822; bob@example.com\r\nAction: delayed\r\nStatus: 4.4.7\r\n"
_ABOUT = "Reporting-MTA: dns; mx.example\r\nArrival-Date: Mon, 5 Jan 2026 10:00:00 +0000\r\n"
_MISSING = DeliveryStatus("r1.abc@desk.example", "ann@example.com", "failed", "5.1.1", "")
_UNKNOWN = DeliveryStatus(
    "r1.abc@desk.example", "ann@example.com", "failed", "5.1.1", "550 5.1.1 User unknown"
)


def _report(*groups: str, original: bytes = _ORIGINAL, encoding: str = "") -> bytes:
    status = part("message/delivery-status", "\r\n".join(groups), encoding=encoding)
    inner = multipart("report; report-type=delivery-status", [_NOTICE, status, original])
    return with_header(inner, _HEADER)


def report_cases() -> Iterator[Case]:
    expected = {"delivery_status": _UNKNOWN, "text": "This is the mail system.", "faults": ()}
    yield Case("RFC 3464", _report(_ABOUT, _FAILED), expected | {"automatic": "empty sender"})
    yield Case("in base64", _report(_ABOUT, _FAILED, encoding="base64"), expected)
    yield Case("the worst of two", _report(_ABOUT, _DELAYED, _FAILED), expected)
    yield Case("more blank lines", _report("\r\n" + _ABOUT, "\r\n", _FAILED), expected)
    yield Case("one group", _report(_ABOUT.rstrip() + "\r\n" + _FAILED), expected)
    yield Case("LF only", _report(_ABOUT, _FAILED).replace(b"\r\n", b"\n"), expected)
    headers = part("text/rfc822-headers", "Message-ID: <r1.abc@desk.example>\r\n")
    yield Case("with headers only", _report(_ABOUT, _FAILED, original=headers), expected)
    unnamed = part("application/octet-stream; name=a.eml", "Message-ID: <r1.abc@desk.example>\r\n")
    yield Case("a copy of no type", _report(_ABOUT, _FAILED, original=unnamed), expected)
    named = "application/octet-stream; name=a.eml"
    sealed = part(named, "Message-ID: <r1.abc@desk.example>\r\n", encoding="base64")
    yield Case("a copy in base64", _report(_ABOUT, _FAILED, original=sealed), expected)
    international = _report(_ABOUT, _FAILED).replace(b"/delivery", b"/global-delivery")
    yield Case("RFC 6533", international, expected)
    named = _ABOUT + "Original-Message-ID: <r1.abc@desk.example>\r\n"
    yield Case(
        "with its id",
        _report(named, _FAILED, original=part("text/plain", "x")),
        {"delivery_status": _UNKNOWN},
    )
    late = DeliveryStatus("r1.abc@desk.example", "bob@example.com", "delayed", "4.4.7", "")
    yield Case("delayed", _report(_ABOUT, _DELAYED), {"delivery_status": late})
    done = _FAILED.replace("failed", "delivered").replace("5.1.1", "2.1.5")
    yield _status("delivered", done, action="delivered", status="2.1.5")
    of_server = _FAILED.replace("Status: 5.1.1\r\n", "")
    yield _status("a status in the answer alone", of_server, action="failed", status="5.1.1")
    talk = _FAILED.replace("Status: 5.1.1", "Status: 4.5.0").replace("550 5.1.1", "550 5.5.0")
    yield _status("the 4 that Postfix makes of a 5", talk, status="5.5.0")
    by_reply = of_server.replace("550 5.1.1", "550")
    yield _status("a reply code alone", by_reply, status="5.0.0", text="550 User unknown")
    busy = _FAILED.replace("Action: failed\r\nStatus: 5.1.1", "Action: delayed\r\nStatus: 4.4.1")
    yield _status("one of two servers refuses", busy, action="delayed", status="4.4.1",
                  text="550 5.1.1 User unknown")  # fmt: skip
    yield _status("no action", _FAILED.replace("Action: failed\r\n", ""), action="failed")
    yield _status(
        "an action with a comment", _FAILED.replace("failed", "Failed (bad)"), action="failed"
    )
    original = "Original-Recipient: rfc822;ann+x@example.com\r\n"
    yield _status("original recipient", original + _FAILED, recipient="ann+x@example.com")
    for name, groups in {"empty": ("",), "no fields": ("sentence",), "no group": (_ABOUT,)}.items():
        yield Case(f"a report that is {name}", _report(*groups), {"faults": ("delivery status",)})
    read = multipart(
        "report; report-type=disposition-notification",
        [
            _NOTICE,
            part("message/disposition-notification", "Disposition: automatic-action; displayed"),
        ],
    )
    yield Case("a receipt", with_header(read), {"automatic": "report", "delivery_status": None})
    yield from _complaint_cases()
    yield from _text_cases()
    bare = b"From: Mail Delivery Subsystem <MAILER-DAEMON>\r\nSubject: Returned mail\r\n\r\n"
    lost = b"550 5.1.1 <ann@example.com>... User unknown\r\n"
    yield Case("a sender without a domain", bare + lost, {"action": "failed"})
    yield from _copy_cases()
    yield from _answer_cases()
    yield from _sender_cases()
    parts = [_NOTICE, part("message/rfc822", _report(_ABOUT, _FAILED))]
    outer = with_header(multipart("mixed", parts, boundary="b0"), _HEADER)
    yield Case("a report that a filter passes on", outer, {"delivery_status": _UNKNOWN})


def _complaint_cases() -> Iterator[Case]:
    """RFC 5965. What a filter says of a forged message is no complaint (RFC 6591)."""
    about = {"recipient": "ann@example.com", "original": "r1.abc@desk.example", "text": _SPAM_TEXT}
    for kind, action in (("abuse", "complained"), ("Fraud", "complained"), ("auth-failure", None),
                         ("not-spam", None)):  # fmt: skip
        fields = f"Feedback-Type: {kind}\r\nOriginal-Rcpt-To: <ann@example.com>\r\nVersion: 1\r\n"
        parts = [part("text/plain", _SPAM_TEXT), part("message/feedback-report", fields), _ORIGINAL]
        raw = with_header(multipart("report; report-type=feedback-report", parts), _FROM_YAHOO)
        said = about if action else {"recipient": None}
        yield Case(f"a complaint, {kind}", raw, {"action": action, "automatic": "report", **said})

    microsoft = b"From: staff@hotmail.example\r\nSubject: complaint about message from %s\r\n"
    for address, action in ((b"192.0.2.1", "complained"), (b"your shop", None)):
        raw = with_header(multipart("mixed", [_ORIGINAL]), microsoft % address)
        yield Case("a complaint of Microsoft", raw, {"action": action})


def _status(name: str, group: str, **fields: str) -> Case:
    status = {
        "message_id": "r1.abc@desk.example", "recipient": "ann@example.com", "action": "failed",
        "status": "5.1.1", "text": "",
    }  # fmt: skip
    code = fields.get("status", "5.1.1")
    status |= {"text": f"550 {code} User unknown"} | fields
    return Case(name, _report(_ABOUT, group), {"delivery_status": DeliveryStatus(**status)})


_QMAIL = """Hi. This is the qmail-send program at mx.example.
I'm afraid I wasn't able to deliver your message to the following addresses.

<ann@example.com>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.1.1 User unknown

--- Below this line is a copy of the message.

Message-ID: <r1.abc@desk.example>
To: carol@example.com
"""
_EXIM = """This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its recipients:

  ann@example.com
    host mx.example: 550 5.1.1 User unknown

------ This is a copy of the message, including all the headers. ------

Message-ID: <r1.abc@desk.example>
"""
_EXCHANGE = """Your message did not reach some or all of the intended recipients.

      Subject:  Re
      Sent:     1/5/2026 10:00 AM

The following recipient(s) could not be reached:

      ann@example.com on 1/5/2026 10:00 AM
            The e-mail account does not exist. <mx.example #5.1.1>

Original message headers:
Message-ID: <r1.abc@desk.example>
"""
_SENDMAIL = """   ----- The following addresses had permanent fatal errors -----
<ann@example.com>
    (reason: 550 5.1.1 User unknown)

   ----- Original message follows -----
Message-ID: <r1.abc@desk.example>
"""


_GAVE_UP = (
    "Hi. This is the qmail-send program at mx.example.\nThis is a permanent error; I've given up.\n"
    "\n<ann@example.com>:\nSorry, I wasn't able to establish a connection. (#4.4.1)\nI'm not going "
    "to try again; this message has been in the queue too long.\n",
    "A message that you sent could not be delivered. This is a permanent error.\n\n"
    "  ann@example.com\n    450 4.2.0 greylisted: retry timeout exceeded\n",
    "Delivery has failed to these recipients: ann@example.com\nThe server has tried to deliver "
    "this message, without success, and has stopped trying. 4.4.7 Message expired\n",
    "ann@example.com: connection timed out. No further attempts will be made. 441 4.4.1\n",
    "Not delivered to ann@example.com: 421 4.7.0 temporarily deferred; no more retries.\n",
    "<ann@example.com>... Deferred: Connection timed out. 451 4.4.1\nMessage could not be "
    "delivered for 5 days\nMessage will be deleted from queue\n",
)
# Servers speak all languages, and quote what another one answered.
_QUOTES_A_REFUSAL = (
    "Det går ikke: ann@example.com\n550 5.1.10 RESOLVER.ADR.RecipientNotFound\n",
    "收件人\uff08ann@example.com\uff09不存在\n550 5.1.1 User unknown\n",
    "Odmietnuté: ann@example.com.\n(552 5.2.2)\n",
)
# Beside a copy of the message. In words that are not known here, a code decides.
_OF_ANY_LANGUAGE = {
    "Ni bezongo: ann@example.com\n450 4.2.0 greylisted\n": "perhaps delayed",
    "Ni bezongo: ann@example.com\n550 5.1.1 unknown\n": "failed",
    "Ni bezongo: ann@example.com\n": "perhaps delayed",
    "To ann@example.com I will keep trying; after 7 days I'll give up. 4.4.1\n": "delayed",
    "Pranešimo įteikti nepavyko: ann@example.com\n": "failed",
    "Não foi possível entregar sua mensagem a ann@example.com\n": "failed",
    "Uw bericht kon niet worden afgeleverd bij ann@example.com\n": "failed",
    "Nie można dostarczyć wiadomości do ann@example.com\n": "failed",
    "메시지를 ann@example.com 님에게 배달하지 못했습니다\n": "failed",
    "无法将您的邮件投递给 ann@example.com\n": "failed",
    "לא ניתן היה למסור את ההודעה אל ann@example.com\n": "failed",
    "आपका संदेश ann@example.com को वितरित नहीं किया जा सका\n": "failed",
    "Zprávu se nepodařilo doručit příjemci ann@example.com\n": "failed",
    "Az üzenetet nem sikerült kézbesíteni: ann@example.com\n": "failed",
    "Δεν ήταν δυνατή η παράδοση του μηνύματος στο ann@example.com\n": "failed",
    "Mesajul nu a putut fi livrat către ann@example.com\n": "failed",
    "Pesan Anda tidak dapat dikirim ke ann@example.com\n": "failed",
    "আপনার বার্তা ann@example.com এ পৌঁছানো যায়নি\n": "failed",
    "Nie można dostarczyć do ann@example.com, spróbujemy ponownie\n": "delayed",
    "无法投递给 ann@example.com 系统将继续尝试\n": "delayed",
    "Não foi possível entregar a ann@example.com, tentaremos de novo\n": "delayed",
    "Kon niet worden afgeleverd bij ann@example.com. We blijven het proberen.\n": "delayed",
    "Δεν ήταν δυνατή η παράδοση στο ann@example.com, θα συνεχίσουμε\n": "delayed",
    "Il messaggio non è stato consegnato a ann@example.com\n": "failed",
    "Votre message n'a pu être remis à ann@example.com\n": "failed",
    "Nie dostarczono wiadomości do ann@example.com\n": "failed",
    "Fehler bei der Nachrichtenzustellung an ann@example.com\n": "failed",
    "ann@example.com: 메일이 전송되지 않았습니다\n": "failed",
    "Le message pour ann@example.com a expiré après 3 jours. 451 4.4.1\n": "failed",
    "Delivery attempts to ann@example.com were abandoned: 450 4.1.1\n": "failed",
    "ann@example.com is full; will be retried for 2 days before we give up. 452 4.2.2\n": "delayed",
    "ann@example.com: Connection timed out. We will try again until it expires. 4.4.1\n": "delayed",
    "Sua mensagem a ann@example.com ainda não foi entregue\n": "delayed",
    "Uw bericht aan ann@example.com is nog niet afgeleverd\n": "delayed",
    "Wiadomość do ann@example.com jeszcze nie została dostarczona\n": "delayed",
    "Az üzenetet még nem sikerült kézbesíteni: ann@example.com\n": "delayed",
    "尚未将您的邮件投递给 ann@example.com\n": "delayed",
    "메시지를 아직 ann@example.com 님에게 배달하지 못했습니다\n": "delayed",
    "Pesan Anda belum dapat dikirim ke ann@example.com\n": "delayed",
    "Przesyłka odrzucona: ann@example.com\n": "failed",
    "Poruka nije isporučena: ann@example.com\n": "failed",
    "Your message was rejected: ann@example.com. Resend it later.\n": "failed",
    "Delivery failed: ann@example.com\n450 4.2.0 greylisted\n": "failed",
    "İletiniz henüz teslim edilmedi, teslimat gecikti: ann@example.com\n": "delayed",
    "Лист ще не доставлено: ann@example.com\n": "delayed",
    "Ένα μήνυμα δεν έχει παραδοθεί ακόμη, καθυστέρηση παράδοσης: ann@example.com\n": "delayed",
    "Livrare întârziată, nu a fost încă livrat: ann@example.com\n": "delayed",
    "Забавена доставка: ann@example.com\n": "delayed",
    "لم يتم تسليم الرسالة بعد: ann@example.com\n": "delayed",
    "ההודעה טרם נמסרה: ann@example.com\n": "delayed",
    "ข้อความส่งล่าช้า: ann@example.com\n": "delayed",
    "Thư chưa được gửi: ann@example.com\n": "delayed",
    "Poruka još nije isporučena: ann@example.com\n": "delayed",
}
# A code is that of a refusal: no part of an id, an IP address, a size or a version.
_CODES = {
    "Retry timeout exceeded\nReceived: from a\nMessage-ID: <a-4698-498e-8a19@b>": "",
    "Retry timeout exceeded\n--- The original message is following ---\nX-Id: 450": "",
    "Out: 250 2.0.0 Ok\nOut: 250 2.1.5 Ok\nOut: 451 4.3.0 queue file write error": "4.3.0",
    "by Exim 4.92.3 of 192.5.1.1: 550 No such user": "5.0.0",
    "host 4.5.6.7 said: 452 4.2.2 mailbox full": "4.2.2",
    "larger than 500 KB, call +1-555-0100, job 40-512-77: 552 5.3.4 too big": "5.3.4",
    "larger than 500 KB, call +1-555-0100, job 40-512-77": "",
    "(#5.1.1)": "5.1.1",
    "错误5.1.1": "5.1.1",
    "571-No PTR record": "5.0.0",
}
_GOES_ON = (
    "A message that you sent to ann@example.com has not yet been delivered. Delivery attempts will "
    "continue. Eventually the mail delivery software will give up, and when that happens, the "
    "message will be returned to you.\n",
    "A message that you sent has not yet been delivered to one or more of its recipients after "
    "more than 24 hours. Delivery attempts will continue for some time, as long as the message "
    "remains undelivered.\n\n  ann@example.com\n    450 4.2.0 greylisted\n",
    "This is a warning only. You do not need to resend your message. It could not be delivered to "
    "ann@example.com: 450 4.2.0 greylisted\n",
    "It could not be delivered to ann@example.com and is temporarily deferred: 451 4.7.1\n",
    "Your message to ann@example.com has not been delivered yet. We will continue to try.\n",
    "La remise à ann@example.com a été retardée. Le serveur réessaiera pendant deux jours.\n",
    "Die Zustellung verzögert sich: ann@example.com\n",
    "Delivery to ann@example.com has been delayed. The server will keep trying. Your message could "
    "not be delivered yet: 4.4.1\n",
    "ann@example.com: 451 4.7.1 greylisted. Will retry for 5 days, then give up.\n",
    "De bezorging aan ann@example.com is vertraagd.\n",
    "Leveransen till ann@example.com har försenats.\n",
    "Your message to ann@example.com could not be delivered yet. We will keep trying for 5 days "
    "before giving up.\n",
)


def _copy_cases() -> Iterator[Case]:
    """The copy of the message stands anywhere in the report."""
    notice = part("text/plain", "ann@example.com: 550 5.1.1 could not be delivered")
    for kind, copy in (
        ("mixed", _ORIGINAL),
        ("report", _ORIGINAL),
        ("mixed", part("text/rfc822-headers", "Message-ID: <r1.abc@desk.example>\r\n")),
        ("mixed", part("text/plain; name=h.txt", "Message-ID: <r1.abc@desk.example>\r\n")),
    ):
        raw = with_header(multipart(kind, [notice, copy]), _HEADER)
        yield Case(
            f"a copy in {kind}", raw, {"original": "r1.abc@desk.example", "action": "failed"}
        )


def _sender_cases() -> Iterator[Case]:
    """An empty sender in the envelope and a server's copy are enough; a person may send a file."""
    exchange = f"MicrosoftExchange{'329e71ec' * 4}@example.com"
    raw = with_header(multipart("mixed", [part("text/plain", "Ni bezongo."), _ORIGINAL]), b"")
    text = message("", "Ni bezongo.\r\n\r\nReceived: from a\r\nMessage-ID: <a@b>", header=b"")
    for header, inner, action in (
        (b"From: admin@mx.example\r\nReturn-Path: <>\r\n", raw, "perhaps delayed"),
        (b"From: admin@mx.example\r\nReturn-Path: <>\r\n", text, "perhaps delayed"),
        (f"From: Outlook <{exchange}>\r\n".encode(), raw, "perhaps delayed"),
        (b"From: jo@mx.example\r\nAuto-Submitted: auto-generated\r\n", raw, None),
        (b"From: jo@mx.example\r\nReturn-Path: <>\r\nIn-Reply-To: <a@b>\r\n", raw, None),
    ):
        yield Case(f"a copy of {header!r}", header + inner, {"action": action})


def _answer_cases() -> Iterator[Case]:
    """A report without a copy of the message names it as every answer does."""
    text = "ann@example.com: 550 5.1.1 could not be delivered"
    group = part("message/delivery-status", f"{_ABOUT}\r\n{_FAILED}")
    report = multipart("report", [_NOTICE, group])
    for field in ("In-Reply-To: <r1.abc@desk.example>", "References: <x@y> <r1.abc@desk.example>"):
        header = _HEADER + field.encode() + b"\r\n"
        for raw in (message("", text, header=header), with_header(report, header)):
            yield Case(field, raw, {"original": "r1.abc@desk.example", "action": "failed"})


def _text_cases() -> Iterator[Case]:
    for name, text in {
        "qmail": _QMAIL, "Exim": _EXIM, "Exchange": _EXCHANGE, "sendmail": _SENDMAIL,
    }.items():  # fmt: skip
        yield _bounce(name, text, recipient="ann@example.com", status="5.1.1")
    for text in _GAVE_UP:
        yield _bounce("a server that gave up", text, recipient="ann@example.com", action="failed")
    for text in _GOES_ON:
        raw = message("", text, header=_HEADER.replace(b"Undelivered", b"Delayed"))
        expected = {"recipient": "ann@example.com", "action": "delayed"}
        yield Case("a report of a server that goes on", raw, expected)
    copy = "\nMessage-ID: <r1.abc@desk.example>\nFrom: desk@desk.example\n"
    for text, action in _OF_ANY_LANGUAGE.items():
        header = _HEADER.replace(b"Undelivered", b"Ni bezongo")
        yield Case(text, message("", text + copy, header=header), {"action": action})
    for text in _QUOTES_A_REFUSAL:
        yield _bounce("a server of any language", text, recipient="ann@example.com")
    for text in (
        "Doručenie zlyhalo: ann@example.com",
        "Toimitus epäonnistui: ann@example.com",
        "Kohaletoimetamine nurjus: ann@example.com",
        "การจัดส่งล้มเหลว: ann@example.com",
    ):
        header = _HEADER.replace(b"Undelivered", b"Re: bowl")
        expected = {"recipient": "ann@example.com", "action": "failed", "status": ""}
        yield Case(text, message("", text + copy, header=header), expected)
    answer = b"From: postmaster@example.com\r\nSubject: Re: bowl\r\nIn-Reply-To: <a@b>\r\n"
    yield Case("a postmaster", message("", f"See:{copy}", header=answer), {"delivery_status": None})
    late = _HEADER.replace(b"Undelivered", b"Re: bowl")
    raw = message("", "Meine Antwort verzögert sich, ich bin noch nicht zurück.", header=late)
    yield Case("an absence that delays", raw, {"delivery_status": None})
    plain = "Mail delivery failed\nann@example.com\n  SMTP error: 452 mailbox full"
    yield _bounce("a reply code", plain, recipient="ann@example.com", status="4.0.0")
    for text, status in _CODES.items():
        yield _bounce(text, f"It could not be delivered.\n{text}", status=status)
    header = b"From: post_master@mx.example\r\nSubject: Re: bowl\r\nIn-Reply-To: <a@b>\r\n"
    asked = "Error: Invalid address\n550 - Requested action not taken: no such user here\n"
    expected = {"action": "failed", "status": "5.0.0", "original": "a@b"}
    yield Case("the words of RFC 5321", message("", asked, header=header), expected)
    header = _HEADER + b"X-Failed-Recipients: ann@example.com\r\n"
    raw = message("", "Something went wrong.", header=header)
    yield Case("X-Failed-Recipients", raw, {"recipient": "ann@example.com"})
    yield Case("no report", message("", _QMAIL), {"delivery_status": None})
    vacation = b"From: ann@example.com\r\nReturn-Path: <>\r\nSubject: Away\r\n"
    raw = message("", "I am away.", header=vacation)
    yield Case("an absence", raw, {"delivery_status": None, "automatic": "empty sender"})
    for subject, words in (
        ("Out of office", "I am away, so the delivery of your order has been delayed."),
        ("Automatic reply: Bowl", "Your words were not delivered to anybody else."),
        ("Re: Bowl", "Thank you. The parcel could not be delivered to my neighbour."),
    ):
        header = b"From: ann@example.com\r\nReturn-Path: <>\r\nIn-Reply-To: <a@b>\r\nSubject: "
        raw = message("", words, header=header + subject.encode() + b"\r\n")
        yield Case(f"deliveries in {words}", raw, {"delivery_status": None, "is_by_program": True})


def _bounce(name: str, text: str, **expected: Any) -> Case:
    return Case(f"a report of {name}", message("", text, header=_HEADER), expected)
