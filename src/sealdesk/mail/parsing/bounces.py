"""What a report says about a message that was sent: RFC 3464, and the reports of older servers."""

import re

from sealdesk.mail.parsing.absences import is_of_absence
from sealdesk.mail.parsing.automatic import has_empty_path, is_daemon
from sealdesk.mail.parsing.charsets import clean_line, clean_text, decode
from sealdesk.mail.parsing.encoded_words import decode_words
from sealdesk.mail.parsing.headers import Headers, read_headers
from sealdesk.mail.parsing.message_ids import read_message_ids
from sealdesk.mail.parsing.report_words import PERHAPS_DELAYED, action_of, says_so
from sealdesk.mail.parsing.structure import Node
from sealdesk.mail.parsing.transfer import decode_text
from sealdesk.mail.parsing.types import DeliveryStatus, Encoded, Fault

_MAX_REPORT_BYTES = 64 * 1024
_MAX_RECIPIENTS = 100
_MAX_TEXT_LENGTH = 1_000
# The worst first.
_ACTIONS = ("failed", PERHAPS_DELAYED, "delayed", "delivered", "relayed", "expanded")
COMPLAINT_TYPE = "message/feedback-report"  # RFC 5965
# Others are of servers, about messages that somebody has forged (RFC 6591).
_COMPLAINTS = ("abuse", "fraud", "virus", "other", "opt-out", "opt-out-list", "miscategorized")
_COMPLAINT_SUBJECT = re.compile(r"\s*complaint about message from [0-9a-f.:]+\s*$", re.IGNORECASE)
_ORIGINALS = re.compile(r"message/(?:rfc822|global|partial)(?:-headers?)?|text/rfc822-headers?")
_EML = re.compile(r"name\*?=.{0,200}\.eml\b", re.IGNORECASE)
# Neither a part of an IP address, nor a version such as `Exim 4.92.3` (RFC 3463, 2).
_CODE = re.compile(r"(?<![a-zA-Z0-9_.])([245]\.[0-7]\.[0-9]{1,3})(?![a-zA-Z0-9_]|\.\d)")
_REFUSED = re.compile(_CODE.pattern.replace("245", "45"))
# No part of a Message-ID, a telephone number or a size.
_REPLY_CODE = re.compile(
    r"(?<![a-z0-9_.@%+/-])([45])[0-9]{2}(?![a-z0-9_@/]|\.\d| ?(?:[km]?i?b|bytes?|ms|\d{3})\b)",
    re.IGNORECASE,
)
_MESSAGE_ID = re.compile(r"^[ \t>]{0,10}Message-ID:\s{0,10}(<[^<>\s]{1,998}>)", re.I | re.M)
_NO_ADDRESS = r"\s<>()\[\]:;,\"@\uff08\uff09"
_RECIPIENT = re.compile(rf"([^{_NO_ADDRESS}]{{1,64}}@[^{_NO_ADDRESS}]{{0,254}}[^{_NO_ADDRESS}.])")
# What a server answered, as it is quoted in reports of any language: `550 5.1.1 …`.
_REFUSAL = re.compile(r"\b[45][0-9]{2}[ -]#?[45]\.[0-9]{1,3}\.[0-9]{1,3}\b")
_COPY = re.compile(
    r"below this line is a copy|this is a copy of|original message (?:headers? )?(?:is )?follow"
    r"|message headers? follow|^[-= |]*original (?:message|headers)(?: headers)?[-=: |]*$"
    r"|^(?:received|return-path|message-id|mime-version|dkim-signature): ",
    re.IGNORECASE | re.MULTILINE,
)
_RECEIVED = re.compile(r"^[ \t]{0,8}Received: (?:from|by|\()", re.IGNORECASE | re.MULTILINE)
_BEGINNING_LENGTH = 2_000


def read_report(
    raw: bytes, reports: list[Node], top: Node, words: str, faults: set[Fault]
) -> DeliveryStatus:
    """What became of the message that a report of RFC 3464 is about.

    words: its subject and text, which decide where a recipient has no action.
    """
    found: list[DeliveryStatus] = []
    message_id = _original_id(raw, top) or _id_in_text(raw, top, "")
    for report in reports:
        groups = _groups(raw, report)
        own_id = next((group.first("original-message-id") for group in groups), "")
        ids = read_message_ids(own_id) or ((message_id,) if message_id else ())
        found += [
            _of_recipient(group, ids[0] if ids else None, words)
            for group in groups
            if group.first("action") or group.first("status")
        ]
    if not found:
        faults.add(Fault.DELIVERY_STATUS)
        return DeliveryStatus(message_id, None, "failed", "", "")
    return min(found, key=lambda each: _ACTIONS.index(each.action))


def is_complaint(subject: str) -> bool:
    """Whether it is Microsoft's for a message that somebody calls spam, which is no report."""
    return _COMPLAINT_SUBJECT.match(subject) is not None


def read_complaint(raw: bytes, reports: list[Node], top: Node) -> DeliveryStatus | None:
    """Which message a recipient calls spam, None for a report about something else."""
    fields = next((group for each in reports for group in _groups(raw, each)), Headers())
    kind = clean_line(fields.first("feedback-type")).lower() if reports else _COMPLAINTS[0]
    message_id = _original_id(raw, top) or (_id_in_text(raw, top, "") if reports else None)
    if kind not in _COMPLAINTS or not (reports or message_id):
        return None
    recipient = _RECIPIENT.search(clean_line(fields.first("original-rcpt-to")))
    return DeliveryStatus(message_id, recipient[1] if recipient else None, "complained", "", kind)


def _groups(raw: bytes, report: Node) -> list[Headers]:
    """The fields about the message, and those about each recipient."""
    encoding = report.headers.first("content-transfer-encoding")
    data = decode_text(Encoded(raw, report.start, report.end, encoding), set(), _MAX_REPORT_BYTES)
    groups: list[Headers] = []
    at = 0
    while at < len(data) and len(groups) < _MAX_RECIPIENTS:
        while data.startswith((b"\r", b"\n"), at):
            at += 1
        fields, after = read_headers(data, at, len(data))
        groups.append(fields)
        # A line that is no field, which would be read again and again.
        following = data.find(b"\n", after) + 1
        at = after if after > at else following or len(data)
    return groups


def _of_recipient(group: Headers, message_id: str | None, words: str) -> DeliveryStatus:
    diagnostic = decode_words(group.first("diagnostic-code"), set())
    found = _CODE.search(group.first("status"))
    status = found[1] if found else ""
    action = clean_line(group.first("action")).partition(" ")[0].lower()
    refusal = _REFUSED.search(diagnostic)
    # Postfix makes a 4 of the 5 of a server that refuses to talk, as it tries the next one.
    if refusal and action == "failed" and (status[:1], refusal[1][0]) == ("4", "5"):
        status = refusal[1]
    status = status or _refusal_code(diagnostic)
    if action not in _ACTIONS:
        action = "delivered" if status.startswith("2") else action_of(words, status)
    named = group.first("original-recipient") or group.first("final-recipient")
    recipient = _RECIPIENT.search(clean_line(named.rpartition(";")[2]))
    return DeliveryStatus(
        message_id,
        recipient[1] if recipient else None,
        action,
        status,
        diagnostic.partition(";")[2].strip()[:_MAX_TEXT_LENGTH] or diagnostic[:_MAX_TEXT_LENGTH],
    )


def _original_id(raw: bytes, node: Node) -> str | None:
    """The Message-ID in the copy of the message that a report contains."""
    if _ORIGINALS.fullmatch(node.kind) or _is_eml(node):
        encoding = node.headers.first("content-transfer-encoding")
        data = decode_text(Encoded(raw, node.start, node.end, encoding), set(), _MAX_REPORT_BYTES)
        start = len(data) - len(data.lstrip(b"\r\n"))
        ids = read_message_ids(read_headers(data, start, len(data))[0].first("message-id"))
        return ids[0] if ids else None
    return next((found for part in node.parts if (found := _original_id(raw, part))), None)


def _is_eml(node: Node) -> bool:
    """Whether it is a file with a message, whose type does not say so."""
    names = (node.headers.first(name) for name in ("content-type", "content-disposition"))
    return not node.parts and any(_EML.search(each) for each in names)


def read_bounce_text(raw: bytes, top: Node, subject: str, text: str) -> DeliveryStatus | None:
    """What a report says that is only text, None for a text that is none.

    The caller has checked that a mail system sent it.
    """
    beginning = text[:_BEGINNING_LENGTH]
    failed = top.headers.first("x-failed-recipients")
    said = f"{subject}\n{beginning}"
    message_id = _original_id(raw, top) or _id_in_text(raw, top, text)
    # In a language that is not known here, a server's copy of a message says what it is about.
    is_of_server = is_daemon(top.headers.first("from").rpartition("<")[2])
    has_fields = _original_id(raw, top) is not None or _RECEIVED.search(text) is not None
    is_copied = is_of_server or (has_empty_path(top.headers) and has_fields)
    # Postmasters who answer quote headers too.
    has_copy = is_copied and message_id is not None and not top.headers.first("in-reply-to")
    # Absent people and shops write of deliveries too, with a subject of theirs.
    is_about_mail = is_of_server or message_id is not None or says_so(subject)
    is_told = _REFUSAL.search(said) is not None or (is_about_mail and says_so(said))
    is_answer = is_of_absence(subject) and not is_of_server
    if not failed and (is_answer or not (has_copy or is_told)):
        return None
    copy = _COPY.search(text)
    own = text[: copy.start()] if copy else beginning
    recipient = _RECIPIENT.search(clean_line(failed)) or _RECIPIENT.search(own)
    code = _refusal_code(own)
    return DeliveryStatus(
        message_id,
        recipient[1] if recipient else None,
        "failed" if failed else action_of(f"{subject}\n{own}", code),
        code,
        clean_text(own).strip()[:_MAX_TEXT_LENGTH],
    )


def _refusal_code(text: str) -> str:
    """The code with which a server has refused a message, "" without one."""
    code, reply = _REFUSED.search(text), _REPLY_CODE.search(text)
    return code[1] if code else f"{reply[1]}.0.0" if reply else ""


def _id_in_text(raw: bytes, top: Node, text: str) -> str | None:
    """The Message-ID in a copy that is text, or a part whose type does not say what it is."""
    body = raw[top.start : top.start + _MAX_REPORT_BYTES].decode("latin-1")
    found = _MESSAGE_ID.search(text) or _MESSAGE_ID.search(body)
    ids = read_message_ids(found[1]) if found else ()
    return ids[0] if ids else None


def original_text(raw: bytes, reports: list[Node]) -> str:
    """The report itself, for a message without another text."""
    pieces = [raw[each.start : each.end][:_MAX_REPORT_BYTES] for each in reports[:1]]
    return "".join(clean_text(decode(piece).text).strip() for piece in pieces)
