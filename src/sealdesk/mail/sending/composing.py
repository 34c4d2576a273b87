"""Composes the message of a reply: text and HTML, with the headers of its thread."""

import re
from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage

from sealdesk.mail.sending.rules import subject_of_answer
from sealdesk.mail.sending.types import Content, OutgoingMessage
from sealdesk.resources.representation import with_ascii_domain

# A line break in a name or a subject would begin another header.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Not multipart and message, which would be parts of this message.
_MEDIA_TYPE = re.compile(r"(?:application|audio|font|image|text|video)/[\w.+-]{1,100}", re.ASCII)
_MAX_NAME = 100
# Some servers do not know a Message-ID that stands on the line after its name.
_LONG_LINES = policy.SMTP.clone(max_line_length=500)
_LONG_UTF8_LINES = policy.SMTPUTF8.clone(max_line_length=500)  # RFC 6532


def compose(content: Content) -> bytes:
    """The message, ready for SMTP. The same content gives the same headers."""
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = _address(content.sender_name, content.sender_address)
    message["To"] = _address(content.recipient_name or "", content.recipient_address)
    if content.others:
        message["Cc"] = [_address(name, address) for name, address in content.others]
    message["Reply-To"] = _address(content.sender_name, content.reply_address)
    message["Subject"] = subject_of_answer(_line(content.subject))
    message["Date"] = datetime.fromtimestamp(content.written_at / 1_000_000, UTC)
    message["Message-ID"] = content.message_id
    if content.references:
        message["In-Reply-To"] = content.references[-1]
        message["References"] = " ".join(content.references)
    if content.is_automatic:
        message["Auto-Submitted"] = "auto-replied"  # RFC 3834
    if content.is_automatic or content.is_shared:
        # Two absent participants would answer each other.
        message["X-Auto-Response-Suppress"] = "All"
    message.set_content(content.text, cte="quoted-printable")
    message.add_alternative(content.html, subtype="html", cte="quoted-printable")
    for file in content.files:
        kind, _, subtype = _media_type(file.content_type).partition("/")
        message.add_attachment(
            file.content, maintype=kind, subtype=subtype, filename=_line(file.name)
        )
    # Derived, so that a message sent twice has the same bytes.
    boundary = content.message_id.partition("@")[0].strip("<")
    for number, part in enumerate(each for each in message.walk() if each.is_multipart()):
        part.set_boundary(f"{boundary}.{number}")
    is_ascii = with_ascii_domain(content.recipient_address).isascii()
    return message.as_bytes(policy=_LONG_LINES if is_ascii else _LONG_UTF8_LINES)


def begin_automatic(
    message: OutgoingMessage, sender_name: str, sender_address: str, subject: str
) -> EmailMessage:
    """A message that is no answer and wants no out-of-office reply, without its text."""
    begun = EmailMessage(policy=policy.SMTP)
    begun["From"] = _address(sender_name, sender_address)
    begun["To"] = _address("", message.address)
    begun["Subject"] = _line(subject)
    begun["Date"] = datetime.fromtimestamp(message.created_at / 1_000_000, UTC)
    begun["Message-ID"] = message.message_id
    begun["Auto-Submitted"] = "auto-generated"  # RFC 3834
    begun["X-Auto-Response-Suppress"] = "All"
    return begun


def _media_type(declared: str) -> str:
    return declared if _MEDIA_TYPE.fullmatch(declared) else "application/octet-stream"


def _address(name: str, address: str) -> Address:
    local, _, domain = with_ascii_domain(address).rpartition("@")
    return Address(_line(name)[:_MAX_NAME], local, domain)


def _line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()
