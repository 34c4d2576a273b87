"""Lists of addresses in header fields (RFC 5322, 3.4), also those that are broken."""

import html
import re

from sealdesk.mail.parsing.charsets import clean_line
from sealdesk.mail.parsing.encoded_words import decode_words
from sealdesk.mail.parsing.types import Address, Fault

MAX_ADDRESSES = 100  # of one kind
_MAX_NAME_LENGTH = 255
_MAX_ADDRESS_LENGTH = 320  # RFC 3696, errata 1690: 64 characters, @ and 255 characters
_MAX_COMMENT_DEPTH = 20
_MAX_NAME_TOKENS = 10
_MAX_SEARCHED = 1_000  # characters of a field that is broken, or of a name in quotes
# An encoded word is one token: mailers leave commas and quotes in it as they are.
_TOKEN = re.compile(
    r"""(?P<word>=\?[^?\s]{1,60}\?[bqBQ]\?[^?]*\?=)|(?P<quoted>"(?:[^"\\]|\\.){0,255}")"""
    r"""|(?P<special>[<>,;:()])|(?P<other>\\.|[^"<>,;:()=\\@]+|@\[[\w:.]{2,60}\]|.)""",
    re.DOTALL,
)
_ADDRESS = re.compile(r'(?:"[^\r\n<>]*"|[^\s<>():;,"@\\]+)@(?:\[[\w:.]{2,60}\]|[^\s<>():;,"@\\]+)')
_MAILTO = re.compile(r"(?:mailto|smtp):([^?]*).*", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.){0,255}"', re.DOTALL)
_PART = re.compile(rf"(?:{_QUOTED.pattern}|\S)+", re.DOTALL)
# Obsolete forms have spaces around the @ and the dots; the dot of `Ann C. ann@…` ends a word.
_SPACED = re.compile(r"(?<!\s)\s*(@)\s*|(?<![\s.])\s+(\.)\s*|(@[^\s.@]+\.)\s+")
_AROUND = ("[]", "''", "{}", "«»", "“”")  # e.g. Outlook's `[mailto:…]`
_BESIDE = " \t'<([{«:;,/|-\u2013\u2014"  # before an address that stands in a text
_FULL_WIDTH = str.maketrans("\uff1c\uff1e\uff20", "<>@")
_BETWEEN = r"\s<>()\[\]\"':;,@\\"
# An address somewhere in what is no list of addresses.
_SOMEWHERE = re.compile(
    rf"(?<![^{_BETWEEN}])(?<!@)[^{_BETWEEN}]+@[^{_BETWEEN}]+(?![^{_BETWEEN}]|@)"
)
_BACKSLASH = re.compile(r"\\(.)", re.DOTALL)
# Marks that change the direction of text, which a name could use to look like another one.
_DIRECTIONS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class _Reader:
    """What of the present address was read so far."""

    def __init__(self, faults: set[Fault]) -> None:
        self.faults = faults
        self.found: list[Address] = []
        self._begin()

    def _begin(self) -> None:
        self.phrase: list[str] = []
        self.angle: list[str] | None = None
        self.is_closed = False
        self.comment: list[str] = []

    def add(self, token: str) -> None:
        if self.angle is not None and not self.is_closed:
            self.angle.append(token)
        elif self.angle is None:
            self.phrase.append(token)

    def finish(self) -> None:
        """The address ends here."""
        written = "".join(self.phrase).strip()
        written = written[:_MAX_SEARCHED] if '"' in written else written
        if self.angle is not None:
            angle = "".join(self.angle).strip()
            self._append(angle.rpartition(":")[2] if angle.startswith("@") else angle, written)
        elif "@" in _QUOTED.sub("", written):
            for address, name in _bare_addresses(self._behind_comma(written)):
                self._append(address, name)
        elif written:
            self._append_encoded(written)
        self._begin()

    def _behind_comma(self, written: str) -> str:
        """A bare address with its words, without those before a comma, which are no name then."""
        if "," not in self.phrase:
            return written
        self.faults.add(Fault.ADDRESS)
        count = self.phrase[::-1].index(",")
        return "".join(self.phrase[-count:])[:_MAX_SEARCHED]

    def _append_encoded(self, written: str) -> None:
        """A name and an address that some mailers have encoded as one word."""
        decoded = decode_words(written, self.faults)
        name, bracket, rest = decoded.partition("<")
        found = _ADDRESS.match(rest) if bracket else None
        if found is None:
            self.faults.add(Fault.ADDRESS)
        else:
            self._append(found[0], name.strip(' "'))

    def _append(self, written: str, name: str) -> None:
        address = clean_line(written)
        address = address if address.startswith('"') else "".join(address.split())
        address = _MAILTO.sub(r"\1", address).lstrip("<")
        if address.endswith("]") and "[" not in address:
            address = address[:-1]
        if f"{address[:1]}{address[-1:]}" in _AROUND:
            address = address[1:-1]
        is_valid = len(address) <= _MAX_ADDRESS_LENGTH and _ADDRESS.fullmatch(address)
        if address and not is_valid:
            self.faults.add(Fault.ADDRESS)
        elif address and len(self.found) < MAX_ADDRESSES:
            name = _name(name or "".join(self.comment), self.faults)
            self.found.append(Address(address, "" if name == address else name))


def read_addresses(field: str, faults: set[Fault]) -> list[Address]:
    """The addresses of a field in their order, those of groups among them; at most 100."""
    reader = _Reader(faults)
    depth = 0
    field = html.unescape(field) if "&lt;" in field else field  # of forms of websites
    field = field if field.isascii() else field.translate(_FULL_WIDTH)
    for found in _TOKEN.finditer(field):
        mark = found[0]
        if found.lastgroup != "special":
            (reader.comment.append if depth else reader.add)(mark)
        elif mark == "(" or (mark == ")" and depth):
            depth = min(depth + 1, _MAX_COMMENT_DEPTH) if mark == "(" else depth - 1
        elif depth:
            reader.comment.append(mark)
        else:
            _take_special(reader, mark)
    reader.finish()
    return reader.found or _only_address(field, faults)


def _only_address(field: str, faults: set[Fault]) -> list[Address]:
    """The one address in a field that is no list, so that its sender can be answered."""
    text = decode_words(field, faults)[:_MAX_SEARCHED]
    found = set(_SOMEWHERE.findall(text))
    if len(found) != 1 or _ADDRESS.fullmatch(address := found.pop()) is None:
        return []
    return [Address(address, text.partition(address)[0].partition("<")[0].strip(f'"{_BESIDE}'))]


def _take_special(reader: _Reader, mark: str) -> None:
    is_inside = reader.angle is not None and not reader.is_closed
    if mark == "<" and reader.angle is None:
        reader.angle = []
    elif mark == ">" and is_inside:
        reader.is_closed = True
    elif mark == ":" and not is_inside:
        if "".join(reader.phrase[-1:]).lower().endswith(("mailto", "smtp")):
            reader.add(mark)
        else:
            reader.phrase = []  # the name of a group
    elif mark == "," and reader.angle is None and _is_name(reader.phrase):
        reader.phrase.append(mark)
    elif mark in ",;" and not (mark == "," and is_inside and _is_route(reader)):
        reader.finish()
    elif is_inside:
        reader.add(mark)


def _is_route(reader: _Reader) -> bool:
    """Whether `<@a,@b:c@d>` is being read (RFC 5322, 4.4)."""
    return bool(reader.angle) and reader.angle is not None and reader.angle[0].startswith("@")


def _is_name(phrase: list[str]) -> bool:
    """Whether words begin a name like `Lee, Ann <ann@example.com>`, which should be in quotes."""
    words = "".join(phrase[:_MAX_NAME_TOKENS])
    is_without_address = "@" not in words and "=?" not in words
    return bool(words.strip()) and is_without_address and len(phrase) < _MAX_NAME_TOKENS


def _bare_addresses(written: str) -> list[tuple[str, str]]:
    """The addresses without angle brackets, each with the words before it, or else behind it."""
    found: list[str] = []
    names: list[list[str]] = [[]]
    written = written if '"' in written else _SPACED.sub(r"\1\2\3", written)
    for part in _PART.findall(written):
        if "@" in _QUOTED.sub("", part):
            found.append(part)
            names.append([])
        else:
            names[-1].append(part)
    words = [" ".join(each).strip(_BESIDE) for each in names]
    words = words if any(words[:-1]) else words[1:]
    return list(zip(found, words, strict=False))


def _name(written: str, faults: set[Fault]) -> str:
    plain = _TOKEN.sub(_without_quotes, written)
    name = _DIRECTIONS.sub("", decode_words(plain, faults))
    return clean_line(name)[:_MAX_NAME_LENGTH].strip()


def _without_quotes(found: re.Match[str]) -> str:
    if found.lastgroup != "quoted":
        return found[0]
    return _BACKSLASH.sub(r"\1", found[0].removeprefix('"').removesuffix('"'))
