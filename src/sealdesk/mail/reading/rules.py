"""Which messages of a folder are taken, and when a server is tried again; no I/O, no clock."""

from sealdesk.mail.imap.responses import Folder, Listed
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing import parse
from sealdesk.mail.parsing.headers import parse_time, read_headers
from sealdesk.mail.reading.types import Known, Position
from sealdesk.mail.receiving import contents
from sealdesk.mail.servers import ProblemCode

_SECOND_US = 1_000_000
# The clocks of mail servers differ. What is looked at again is recognised by its Message-ID.
_AGAIN_US = 24 * 3600 * _SECOND_US
# How long a message has waited if its ticket gets the time at which it came: servers tell seconds,
# and what is older was moved into the folder, where its ticket would be at the end of all lists.
_MIN_WAITED_US, _MAX_WAITED_US = 60 * _SECOND_US, 30 * 24 * 3600 * _SECOND_US
_MIB = 1024 * 1024
# These end only when somebody does something, so the mailbox shows them at once. The others are
# shown if the second attempt fails as well.
_LASTING: frozenset[ProblemCode] = frozenset(
    {
        "address_not_allowed",
        "certificate_invalid",
        "starttls_missing",
        "login_refused",
        "password_unreadable",
        "consent_withdrawn",
        "oauth_client_refused",
        "folder_missing",
        "quota_full",
    }
)
FIRST_DELAY_S = 1.0
# Servers lock accounts after many refused log-ins.
FIRST_LASTING_DELAY_S = 15.0
MAX_DELAY_S = 300.0
_LASTING_FACTOR = 3
_MAX_DOUBLINGS = 10
_CONTENT = (b"content-", b"mime-version")
_HEADER_END = (
    b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Transfer-Encoding: 8bit\r\n\r\n"
)


def position_of(mailbox: Mailbox, folder: Folder) -> Position | None:
    """Where to go on reading; None if the folder is new, or its messages have other numbers."""
    if mailbox.uid_validity != folder.uid_validity or mailbox.last_uid is None:
        return None
    if folder.uid_next is not None and folder.uid_next <= mailbox.last_uid:
        return None  # a new folder of the same name, by a server that does not tell
    return Position(folder.uid_validity, mailbox.last_uid, since_us(mailbox))


def since_us(mailbox: Mailbox) -> int:
    """Until when the folder has been read."""
    return mailbox.created_at if mailbox.read_at is None else mailbox.read_at


def is_old(listed: Listed, mailbox: Mailbox) -> bool:
    """Whether a message was there before the mailbox was connected, or was read long ago.

    Both times must say so: a server may have a wrong clock, or new times after a move, and senders
    may have wrong clocks too.
    """
    since = since_us(mailbox) // _SECOND_US * _SECOND_US  # as exact as servers and senders are
    if mailbox.uid_validity is not None:
        since -= _AGAIN_US
    headers, _ = read_headers(listed.header, 0, len(listed.header))
    sent_at = parse_time(headers.first("date")) * _SECOND_US
    return listed.arrived_at is not None and max(listed.arrived_at, sent_at) < since


def arrived_at(listed: Listed, now_us: int) -> int | None:
    """When a message came, if it waited in its folder; None if that is not known, or long ago."""
    if listed.arrived_at is None:
        return None
    has_waited = _MIN_WAITED_US <= now_us - listed.arrived_at <= _MAX_WAITED_US
    return listed.arrived_at if has_waited else None


def known_of(header: bytes) -> Known | None:
    """What a message is recognised by; None without a Message-ID."""
    message = parse(header)
    if not message.message_id:
        return None
    return Known(
        contents.key_of(message, ""),
        contents.subject_of(message),
    )


def shows_at_once(code: ProblemCode) -> bool:
    return code in _LASTING


def next_delay_s(code: ProblemCode, failures: int, jitter: float) -> float:
    """How long to wait after so many failures in a row. jitter: 0 to 1."""
    is_lasting = code in _LASTING
    first = FIRST_LASTING_DELAY_S if is_lasting else FIRST_DELAY_S
    most = MAX_DELAY_S * (_LASTING_FACTOR if is_lasting else 1)
    delay_s = min(most, first * 2.0 ** min(max(failures - 1, 0), _MAX_DOUBLINGS))
    return delay_s * (0.5 + jitter / 2)


def too_large_text(mailbox: Mailbox, size_bytes: int, max_bytes: int, words: str) -> str:
    """The text of a message that is not fetched whole. words: what its beginning says."""
    notice = (
        f"This message has {size_bytes / _MIB:.1f} MiB. More than {max_bytes // _MIB} MiB are not"
        f" fetched, so its files and perhaps a part of its text are missing here. It stays in the"
        f" folder {mailbox.imap_folder} of {mailbox.address}: read it there with another program."
    )
    return f"{notice}\n\n{contents.clean(words)}"


def unreadable_text(mailbox: Mailbox) -> str:
    """The text of a message that could not be taken as it is."""
    return (
        "This message could not be taken, so its text and files are missing here. It stays in the"
        f" folder {mailbox.imap_folder} of {mailbox.address}: read it there with another program."
    )


def waiting_full_text(mailbox: Mailbox) -> str:
    """The text of a message for which no room is left among those that wait for a person."""
    return (
        "So many held messages wait already that this one was not taken. It stays in the folder"
        f" {mailbox.imap_folder} of {mailbox.address}: read it there with another program."
    )


def with_text(header: bytes, text: str) -> bytes:
    """A message with this header and another content."""
    kept, is_kept = bytearray(), False
    for ended in header.split(b"\n"):
        line = ended.rstrip(b"\r")
        if not line:
            break
        if not line.startswith((b" ", b"\t")):
            is_kept = b":" in line and not line.lower().startswith(_CONTENT)
        if is_kept:
            kept += line + b"\r\n"
    return bytes(kept) + _HEADER_END + text.encode() + b"\r\n"
