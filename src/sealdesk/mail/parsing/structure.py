"""The parts of a message, as places in its bytes, which are not copied.

The parser of the standard library takes eight times the size of a message in memory (193 MiB for
one of 25 MiB, measured 2026-11-22; python/cpython#115512).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sealdesk.mail.parsing.headers import Headers, read_headers
from sealdesk.mail.parsing.parameters import Value, read_value
from sealdesk.mail.parsing.types import Fault

_BEFORE_HEADER = re.compile(rb"(?:\xef\xbb\xbf|[\r\n])*+")  # some programs write a mark first
MAX_PARTS = 1_000
MAX_DEPTH = 20
_MAX_SEARCHED = 100_000
_MAX_BOUNDARY_BYTES = 1_000  # RFC 2046, 5.1.1, allows 70
_MAX_SEARCHED_BYTES = 64 * 1024  # for a boundary that is not declared
_DEFAULT = "text/plain"  # RFC 2045, 5.2
UNCLEAR = "text/x-unclear"  # text whose Content-Type is broken, so that it may also be HTML
_TYPE = re.compile(
    r"[\"']?([a-z0-9!#$&^_.+-]{1,100})\s{0,9}/\s{0,9}([a-z0-9!#$&^_.+-]{1,100})(?=[\"'\s;,]|$)",
    re.IGNORECASE,
)
# Programs write message/plain, txt/plain, plain/text, message/x-rfc822 and the like.
_MESSAGE = "message/rfc822"
_KINDS = {"plain": "text/plain", "text": UNCLEAR, "html": "text/html", "news": _MESSAGE}
_KINDS |= dict.fromkeys(("x-rfc822", "rfc822x", "rfc-822", "rfc2822", "rfc5322"), _MESSAGE)
_LATE = re.compile(
    rb"(?:(?:mime-version|content-[a-z-]{4,30}):[^\n]{1,500}\n(?:[ \t][^\n]{1,500}\n)?){1,9}\r?\n",
    re.IGNORECASE,
)


class Node(NamedTuple):
    """A part: its fields, the place of its body, and the parts of a multipart."""

    headers: Headers
    content_type: Value
    start: int
    end: int
    parts: list["Node"]

    @property
    def kind(self) -> str:
        return self.content_type.value


class Structure:
    """Reads the parts of one message."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.faults: set[Fault] = set()
        self._count = 0
        self._searched = 0  # lines that could be a boundary

    def read(self) -> Node:
        """The message with its parts."""
        before = _BEFORE_HEADER.match(self.raw)
        start = before.end() if before else 0
        return self._node(start, len(self.raw), _DEFAULT, depth=0)

    def _node(self, start: int, end: int, default: str, depth: int) -> Node:
        headers, body = read_headers(self.raw, start, end, skips_junk=depth == 0)
        if depth == 0 and not headers.first("content-type") and _LATE.match(self.raw, body):
            # Scripts of websites put a blank line too many before these.
            later, body = read_headers(self.raw, body, end)
            headers.values = later.values | headers.values
            self.faults.add(Fault.HEADERS)
        self._count += 1
        self.faults |= headers.faults
        content_type = _content_type(headers, default, self.faults)
        node = Node(headers, content_type, body, end, [])
        if node.kind.startswith("multipart/"):
            if depth < MAX_DEPTH:
                node.parts.extend(self._parts(node, depth + 1))
            else:
                self.faults.add(Fault.DEPTH)
        return node

    def _parts(self, node: Node, depth: int) -> Iterator[Node]:
        # RFC 2046, 5.1.5
        default = _MESSAGE if node.kind == "multipart/digest" else _DEFAULT
        boundary = node.content_type.parameters.get("boundary", "").rstrip()
        marker = b"--" + boundary.encode()[:_MAX_BOUNDARY_BYTES]
        lines = self._lines_of(marker, node) if boundary else iter(())
        first = next(lines, None)
        if first is None:
            self.faults.add(Fault.BOUNDARY)
            marker = self._undeclared_marker(node)
            lines = self._lines_of(marker, node) if marker else iter(())
            first = next(lines, None)
        while first is not None and not first.is_last:
            following = next(lines, None)
            if self._count >= MAX_PARTS:
                self.faults.add(Fault.PARTS)
                return
            if following is None:
                self.faults.add(Fault.BOUNDARY)
            until = node.end if following is None else following.start
            yield self._node(first.after, max(until, first.after), default, depth)
            first = following

    def _lines_of(self, marker: bytes, node: Node) -> Iterator["_Boundary"]:
        line = b"\n" + marker
        # The body begins behind the end of a line, except in a message without a header.
        at = self.raw.find(line, max(node.start - 1, 0), node.end)
        while at >= 0:
            self._searched += 1
            if self._searched > _MAX_SEARCHED:
                self.faults.add(Fault.PARTS)
                return
            found = self._boundary(at + 1, at + len(line), node.end)
            if found is not None:
                yield found
                if found.is_last:
                    return
            at = self.raw.find(line, at + len(line), node.end)

    def _boundary(self, start: int, end: int, limit: int) -> "_Boundary | None":
        """The line at `start`, unless it is that of a longer boundary."""
        line_end = self.raw.find(b"\n", end, min(end + _MAX_BOUNDARY_BYTES, limit))
        after = limit if line_end < 0 else line_end + 1
        if line_end < 0 and limit - end > _MAX_BOUNDARY_BYTES:
            return None
        rest = self.raw[end:after].strip()
        if rest not in (b"", b"--"):
            return None
        # The end of the line before belongs to the boundary (RFC 2046, 5.1.1).
        for ending in (b"\r\n", b"\n"):
            if self.raw.endswith(ending, 0, start):
                start -= len(ending)
                break
        return _Boundary(start, after, rest == b"--")

    def _undeclared_marker(self, node: Node) -> bytes:
        """The first line that looks like a boundary, if its end also comes; otherwise b""."""
        at, limit = node.start, min(node.end, node.start + _MAX_SEARCHED_BYTES)
        for line in self.raw[at:limit].split(b"\n"):
            at += len(line)
            marker = line.rstrip()
            is_long = 2 < len(marker) <= _MAX_BOUNDARY_BYTES
            if is_long and marker.startswith(b"--") and marker.strip(b"-"):
                is_ended = self.raw.find(b"\n" + marker + b"--", at, node.end) >= 0
                return marker if is_ended else b""
            at += 1
        return b""


class _Boundary(NamedTuple):
    start: int  # without the end of the line before
    after: int
    is_last: bool


def _content_type(headers: Headers, default: str, faults: set[Fault]) -> Value:
    field = headers.first("content-type")
    if not field.strip():
        return Value(UNCLEAR if default == _DEFAULT else default, {})
    found = _TYPE.match(field)
    if found is None:
        # What is no type is text (RFC 2045, 5.2); RFC 1049 has `text` alone.
        value = read_value(field, faults)
        if value.parameters.get("boundary"):
            is_choice = "alternative" in field.lower()
            return value._replace(value=f"multipart/{'alternative' if is_choice else 'mixed'}")
        return value._replace(value=UNCLEAR if default == _DEFAULT else default)
    kind = f"{found[1]}/{found[2]}".lower()
    # A name in quotes, and parameters that no semicolon separates, occur.
    rest = field[found.end() :].lstrip("\"' \t")
    value = read_value(rest if rest.startswith(";") else f";{rest}", faults)
    return value._replace(value=_KINDS.get(kind.rpartition("/")[2], kind))
