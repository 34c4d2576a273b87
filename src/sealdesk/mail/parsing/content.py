"""The text of a message, and the files with it."""

import hashlib
import re
from collections.abc import Iterable

from sealdesk.mail.parsing import charsets
from sealdesk.mail.parsing.bounces import COMPLAINT_TYPE
from sealdesk.mail.parsing.calendars import describe_event
from sealdesk.mail.parsing.charsets import clean_line, clean_text
from sealdesk.mail.parsing.cms import read_cms
from sealdesk.mail.parsing.enriched import enriched_to_html
from sealdesk.mail.parsing.flowed import join_flowed
from sealdesk.mail.parsing.html_text import html_to_text, is_html_document
from sealdesk.mail.parsing.names import file_name
from sealdesk.mail.parsing.parameters import Value, read_value
from sealdesk.mail.parsing.structure import UNCLEAR, Node, Structure
from sealdesk.mail.parsing.transfer import decode, decode_text, take_uuencoded
from sealdesk.mail.parsing.types import Encoded, Fault, Part
from sealdesk.tickets.attachments.rules import media_type

MAX_TEXT_LENGTH = 65_536  # of a ticket's description and of a reply
MAX_FILES = 100
# Enough for the longest text: four bytes a character, each written as three, and ends of lines.
_MAX_PLAIN_BYTES = 13 * MAX_TEXT_LENGTH
_MAX_HTML_BYTES = 8 * 1024 * 1024  # as it is transferred, with images in URLs
_MAX_HTML_LENGTH = 2 * 1024 * 1024  # without these images
_INLINE_DATA = re.compile(rb";base64,[A-Za-z0-9+/=\s]{100,}+")
_META_CHARSET = re.compile(rb"charset\s*+=\s*+[\"']?([A-Za-z0-9_-]{2,40})", re.IGNORECASE)
_META_BYTES = 2_048
_MAX_CONTENT_ID_LENGTH = 255
_ENRICHED_TYPES = ("text/enriched", "text/richtext")
_BODY_TYPES = ("text/plain", "text/html", *_ENRICHED_TYPES, UNCLEAR)
_TEXT_FILES = (
    "text/calendar", "text/css", "text/csv", "text/directory", "text/javascript", "text/rtf",
    "text/rfc822-headers", "text/vcard", "text/x-vcard", "text/xml",
)  # fmt: skip
_OF_FILES = ("audio/", "font/", "image/", "message/", "model/", "video/")
_PRINTABLE = re.compile(rb"[\t\r\n\x20-\x7e\x80-\xff]+")
_HTML_BEGINNING = re.compile(
    rb"\s*+(?:\xef\xbb\xbf)?<(?:!doctype html|html|head|body|div|p|table|meta)[\s>]", re.IGNORECASE
)
_SMIME_TYPES = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_TNEF_TYPES = ("application/ms-tnef", "application/vnd.ms-tnef")
_NO_TEXT_TYPES = (*_SMIME_TYPES, *_TNEF_TYPES, "application/pdf")
_PGP = "-----BEGIN PGP MESSAGE-----"
_SMIME_NAMES = ("smime.p7m", "smime.p7z", "smime.p7c")
# Of all that is compressed in a message; text becomes five times as large.
_MAX_UNPACKED_BYTES, _MAX_UNPACKED_RATIO = 8 * 1024 * 1024, 16
_MAX_WRAPPED = 3  # such as a signature of what is compressed and signed
_MESSAGE_TYPES = ("message/rfc822", "message/global", "message/partial")
_REPORT_TYPES = (
    "message/delivery-status",  # RFC 3464
    "message/global-delivery-status",  # RFC 6533
    COMPLAINT_TYPE,
)
# What a mailer writes instead of the text that only the HTML has; a person's own words about
# such things are in the HTML as well.
_POOR = re.compile(
    r"(?:does not|doesn.t|cannot|can.t|not able to|unable to) (?:support|display|view|read|show)"
    r"|html|browser|navigat(?:eur|ore)|navegador|przegląda|view (?:it )?online|ブラウザ|浏览器",
    re.IGNORECASE,
)
_MAX_POOR_LENGTH = 500
_IN_BRACKETS = re.compile(r"\[[^\]\n]{0,500}\](?:\([^)\s]{0,2000}\))?")  # images and links


class Content:
    """Collects the text and the files of one message."""

    def __init__(self, raw: bytes, likely: str | None, faults: set[Fault]) -> None:
        self.raw = raw
        self.likely = likely  # the charset of texts that declare none
        self.faults = faults  # of the message, to which those of its content are added
        self.texts: list[str] = []
        self.events: list[str] = []  # of calendars
        self.files: list[Part] = []
        self.messages: list[Encoded] = []  # of those that are attached
        self.hashed = hashlib.sha256()  # the names of the files, and what is in them
        self.is_truncated = False
        self._wrapped_count = 0
        # Of the message itself: a small one is parsed in the loop of events.
        self.unpacked_bytes_left = min(_MAX_UNPACKED_BYTES, _MAX_UNPACKED_RATIO * len(raw))
        self.reports: list[Node] = []  # of message/delivery-status

    @property
    def text(self) -> str:
        """The texts of all parts, at most as long as a ticket's."""
        text = "\n\n".join(each for each in (*self.texts, *self.events) if each)
        if len(text) <= MAX_TEXT_LENGTH:
            return text
        self.is_truncated = True
        return text[:MAX_TEXT_LENGTH].rstrip()

    def take(self, node: Node, *, within: str = "", wants_text: bool = True) -> None:
        """Takes what a part contains. within: the type of the multipart that it is in."""
        if node.kind == "multipart/encrypted":
            self.faults.add(Fault.ENCRYPTED)
        if node.kind == "multipart/alternative" and node.parts:
            self._take_alternative(node, wants_text=wants_text)
        elif node.parts:
            for part in node.parts:
                self.take(part, within=node.kind, wants_text=wants_text)
        else:
            self._take_leaf(node, within, wants_text=wants_text)

    def _take_alternative(self, node: Node, *, wants_text: bool) -> None:
        """Takes the text of the first part that has a good one, and the files of all."""
        texts, chosen = self.texts, list[str]()
        for part in sorted(node.parts, key=_rank):
            self.texts = []
            wants_this = wants_text and _may_say_more(part, chosen)
            self.take(part, within=node.kind, wants_text=wants_this)
            if any(self.texts) and _says_more(self.texts, chosen):
                chosen = self.texts
        self.texts = [*texts, *chosen]

    def _take_leaf(self, node: Node, within: str, *, wants_text: bool) -> None:
        disposition = read_value(node.headers.first("content-disposition"), self.faults)
        name = _declared_name(node, disposition)
        if self._is_text(node, disposition, name, is_whole=not within, wants_text=wants_text):
            if wants_text:
                self._take_text(node)
            return
        if node.kind in _REPORT_TYPES and len(self.reports) < MAX_FILES:
            self.reports.append(node)
            return
        wrapped = self._wrapped_content(node, name)
        if isinstance(wrapped, bytes):
            self._take_wrapped(wrapped, wants_text=wants_text)
            return
        if wrapped is not None:
            self.faults.add(wrapped)
        is_other_form = within == "multipart/alternative" and not (wants_text or name)
        if is_other_form and node.kind.startswith("text/") and node.kind != "text/calendar":
            return  # the same words for AMP, for watches or for programs
        self._note_type(node, name)
        if node.kind in _MESSAGE_TYPES or name.lower().endswith(".eml"):
            self.messages.append(self._encoded(node))
        if node.kind == "text/calendar":
            self.events.append(describe_event(self._decoded(node, _MAX_PLAIN_BYTES)))
        content_id = clean_line(node.headers.first("content-id")).strip("<> ") or None
        is_inline = disposition.value == "inline" or within == "multipart/related"
        self._add_file(node, name, content_id, is_inline=is_inline and content_id is not None)

    def _is_text(
        self, node: Node, disposition: Value, name: str, *, is_whole: bool, wants_text: bool
    ) -> bool:
        if node.kind.startswith("multipart/"):
            return Fault.DEPTH not in self.faults
        if disposition.value == "attachment":
            return False
        is_first = wants_text and not (name or self.texts)
        if node.kind not in _BODY_TYPES and not (
            self._is_unknown_text(node, name) if is_whole else is_first and _is_unknown_kind(node)
        ):
            return False
        # Some mailers name the text of a message, but a second text with a name is a file.
        return not name or not (self.texts or self.files)

    def _is_unknown_text(self, node: Node, name: str) -> bool:
        """Whether a type that nobody knows is that of text, which is all that there is."""
        if node.kind.startswith("text/"):
            return node.kind != "text/calendar"
        if name or node.kind.startswith(_OF_FILES) or node.kind in _NO_TEXT_TYPES:
            return False
        return (
            _PRINTABLE.fullmatch(decode_text(self._encoded(node), set(), _META_BYTES)) is not None
        )

    def _wrapped_content(self, node: Node, name: str) -> bytes | Fault | None:
        """The message within a part of S/MIME, whose signature is not checked; None for others."""
        if node.kind not in _SMIME_TYPES and name.lower() not in _SMIME_NAMES:
            return None
        if self._wrapped_count >= _MAX_WRAPPED:
            return Fault.DEPTH
        declared = node.content_type.parameters.get("smime-type", "")
        data = b"".join(decode(self._encoded(node), set()))
        return read_cms(data, declared, self.unpacked_bytes_left)

    def _take_wrapped(self, raw: bytes, *, wants_text: bool) -> None:
        structure = Structure(raw)
        outer, self.raw = self.raw, raw
        self._wrapped_count += 1
        self.unpacked_bytes_left = max(self.unpacked_bytes_left - len(raw), 0)
        self.take(structure.read(), wants_text=wants_text)
        self.faults |= structure.faults
        self.raw = outer

    def _note_type(self, node: Node, name: str) -> None:
        if node.kind in _TNEF_TYPES or name.lower() == "winmail.dat":
            self.faults.add(Fault.TNEF)
        elif node.kind == "message/external-body":
            self.faults.add(Fault.EXTERNAL)

    def _take_text(self, node: Node) -> None:
        if sum(map(len, self.texts)) > MAX_TEXT_LENGTH:
            self.is_truncated = True
        elif self._is_html(node):
            source = self._decoded(node, _MAX_HTML_BYTES, is_html=True)
            source = enriched_to_html(source) if node.kind in _ENRICHED_TYPES else source
            text, is_whole = html_to_text(source, MAX_TEXT_LENGTH)
            self.is_truncated = self.is_truncated or not is_whole
            self.texts.append(text)
        else:
            self.texts.append(self._plain_text(node))

    def _is_html(self, node: Node) -> bool:
        if node.kind in _BODY_TYPES and node.kind != UNCLEAR:
            return node.kind in ("text/html", *_ENRICHED_TYPES)
        beginning = decode_text(self._encoded(node), set(), _META_BYTES)
        return _HTML_BEGINNING.match(beginning) is not None

    def _plain_text(self, node: Node) -> str:
        text = self._decoded(node, _MAX_PLAIN_BYTES)
        if text.lstrip().startswith(_PGP):
            self.faults.add(Fault.ENCRYPTED)
        if is_html_document(text):
            text, is_whole = html_to_text(text, MAX_TEXT_LENGTH)
            self.is_truncated = self.is_truncated or not is_whole
        text, files = take_uuencoded(text, self.faults)
        for name, content in files:
            encoded = Encoded(content, 0, len(content), "")
            self._append(name, "application/octet-stream", encoded)
        parameters = node.content_type.parameters
        if parameters.get("format", "").lower() == "flowed":
            is_deleted = parameters.get("delsp", "").lower() == "yes"
            text = join_flowed(text, deletes_space=is_deleted)
        return text.rstrip().lstrip("\n")

    def _decoded(self, node: Node, limit: int, *, is_html: bool = False) -> str:
        self.is_truncated = self.is_truncated or node.end - node.start > limit
        data = decode_text(self._encoded(node), self.faults, limit)
        charset = node.content_type.parameters.get("charset", "")
        if is_html:
            data = _INLINE_DATA.sub(b"", data)
            self.is_truncated = self.is_truncated or len(data) > _MAX_HTML_LENGTH
            data = data[:_MAX_HTML_LENGTH]
            found = None if charset else _META_CHARSET.search(data[:_META_BYTES])
            charset = charset if found is None else found[1].decode()
        decoded = charsets.decode(data, charset, self.likely, is_cut=self.is_truncated)
        if not decoded.is_certain:
            self.faults.add(Fault.CHARSET)
        return clean_text(decoded.text)

    def _add_file(self, node: Node, name: str, content_id: str | None, *, is_inline: bool) -> None:
        if len(self.files) >= MAX_FILES:
            self._leave_out()
            return
        kind = "text/plain" if node.kind == UNCLEAR else node.kind
        self._append(name, kind, self._encoded(node), content_id, is_inline=is_inline)

    def _encoded(self, node: Node) -> Encoded:
        encoding = node.headers.first("content-transfer-encoding")
        return Encoded(self.raw, node.start, node.end, encoding)

    def _append(
        self,
        name: str,
        content_type: str,
        encoded: Encoded,
        content_id: str | None = None,
        *,
        is_inline: bool = False,
    ) -> None:
        if len(self.files) >= MAX_FILES:
            self._leave_out()
            return
        written = file_name(name, content_type, len(self.files) + 1, self.faults)
        content_id = content_id[:_MAX_CONTENT_ID_LENGTH] if content_id else None
        size = self._hash(written, decode(encoded, self.faults))
        if self._wrapped_count:
            # The answer of the child process has what is not in the message once for each file.
            own = encoded.raw[encoded.start : encoded.end]
            encoded = Encoded(own, 0, len(own), encoded.encoding)
        kind = media_type(content_type)
        self.files.append(Part(written, kind, encoded, size, content_id, is_inline))

    def _hash(self, name: str, pieces: Iterable[bytes]) -> int:
        size = 0
        self.hashed.update(f"\0{name}\0".encode("utf-8", "replace"))
        for piece in pieces:
            size += len(piece)
            self.hashed.update(piece)
        return size

    def _leave_out(self) -> None:
        self.faults.add(Fault.PARTS)
        self.is_truncated = True


def _declared_name(node: Node, disposition: Value) -> str:
    if named := disposition.parameters.get("filename"):
        return named
    name = node.content_type.parameters.get("name", "")
    if name.isascii():
        return name
    # The charset of the text was not known when the type was read.
    return read_value(node.headers.first("content-type"), set()).parameters.get("name", name)


def _is_unknown_kind(node: Node) -> bool:
    """Whether a part is text of a kind that nobody knows (RFC 2046, 4.1.4), and no usual file."""
    return node.kind.startswith("text/") and node.kind not in _TEXT_FILES


def _rank(node: Node) -> int:
    """Plain text before HTML, and that before whatever else there is."""
    while node.parts:
        node = node.parts[0]
    return {"text/plain": 0, "text/html": 1}.get(node.kind, 2)


def _is_poor(text: str) -> bool:
    """Whether a text only says that there is HTML."""
    return not text.strip() or (len(text) < _MAX_POOR_LENGTH and _POOR.search(text) is not None)


def _may_say_more(part: Node, known: list[str]) -> bool:
    """Whether a part is worth reading: some programs write only the first line as plain text."""
    is_short = sum(map(len, known)) < _MAX_POOR_LENGTH
    return all(map(_is_poor, known)) or (is_short and _rank(part) == 1)


def _says_more(texts: list[str], known: list[str]) -> bool:
    if all(map(_is_poor, known)):
        return True
    bare = (_IN_BRACKETS.sub("", "".join(each)) for each in (known, texts))
    begin, words = ("".join(filter(str.isalnum, each)) for each in bare)
    return begin != words and words.startswith(begin)
