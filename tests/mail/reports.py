"""Reports of mail servers that a message was not delivered (RFC 3464)."""

from tests.mail.support import message_id

COMPLAINT = "Feedback-Type: abuse\r\nOriginal-Rcpt-To: ann@example.test"
RECIPIENT = "Final-Recipient: rfc822; ann@example.test"


def report(
    original: str, action: str = "failed", *, recipient: str = RECIPIENT, own_id: str = ""
) -> bytes:
    """A report about the message with this Message-ID. recipient: the fields that name it."""
    fields = "\r\n".join(recipient.splitlines())
    return f"""\
From: MAILER-DAEMON@mx.example.test\r
To: desk@acme.test\r
Subject: Undelivered mail\r
Message-ID: {own_id or message_id()}\r
Auto-Submitted: auto-replied\r
MIME-Version: 1.0\r
Content-Type: multipart/report; report-type=delivery-status; boundary=b\r
\r
--b\r
Content-Type: text/plain\r
\r
It could not be delivered.\r
--b\r
Content-Type: message/delivery-status\r
\r
Reporting-MTA: dns; mx.example.test\r
\r
{fields}\r
Action: {action}\r
Status: 5.1.1\r
Diagnostic-Code: smtp; 550 No such user\r
\r
--b\r
Content-Type: text/rfc822-headers\r
\r
Message-ID: {original}\r
From: desk@acme.test\r
\r
--b--\r
""".encode()


def complaint(original: str) -> bytes:
    """What the provider of a recipient sends who calls the message with this Message-ID spam."""
    raw = report(original, recipient=COMPLAINT).replace(b"delivery-status", b"feedback-report")
    return raw.replace(b"Reporting-MTA: dns; mx.example.test\r\n\r\n", b"")
