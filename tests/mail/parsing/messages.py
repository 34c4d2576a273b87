"""Making messages for tests, byte by byte: the standard library would correct their faults."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, NamedTuple

from sealdesk.mail.parsing.transfer import decode
from sealdesk.mail.parsing.types import Part

HEADER = b"From: Ann <ann@example.com>\r\nTo: desk@example.org\r\nSubject: Hello\r\n"


class Case(NamedTuple):
    """A message, and the fields of what it must become; other fields are not compared."""

    name: str
    raw: bytes
    expected: dict[str, Any]


def message(*lines: str | bytes, header: bytes = HEADER) -> bytes:
    """A message of these lines after its usual fields; an empty line ends the header."""
    written = [line.encode() if isinstance(line, str) else line for line in lines]
    return header + b"\r\n".join(written) + b"\r\n"


def part(content_type: str, body: str | bytes, *fields: str, encoding: str = "") -> bytes:
    """A part with its body in a transfer encoding."""
    data = body.encode() if isinstance(body, str) else body
    header = [f"Content-Type: {content_type}", *fields]
    if encoding:
        header.append(f"Content-Transfer-Encoding: {encoding}")
    return "\r\n".join((*header, "", "")).encode() + encoded(data, encoding)


def encoded(data: bytes, encoding: str) -> bytes:
    if encoding == "base64":
        return base64.encodebytes(data).replace(b"\n", b"\r\n")
    if encoding == "quoted-printable":
        return binascii.b2a_qp(data, istext=False).replace(b"\n", b"\r\n")
    return data


def multipart(kind: str, parts: Sequence[bytes], *, boundary: str = "b1") -> bytes:
    """A multipart as a part of its own."""
    marker = f"--{boundary}".encode()
    body = b"".join(marker + b"\r\n" + each + b"\r\n" for each in parts)
    header = f'Content-Type: multipart/{kind}; boundary="{boundary}"\r\n\r\n'.encode()
    return header + body + marker + b"--\r\n"


def with_header(inner: bytes, header: bytes = HEADER) -> bytes:
    return header + inner


def word(text: str, charset: str = "utf-8", kind: str = "b") -> str:
    """An encoded word (RFC 2047)."""
    data = text.encode(charset)
    if kind == "b":
        return f"=?{charset}?b?{base64.b64encode(data).decode()}?="
    return f"=?{charset}?q?{''.join(f'={byte:02X}' for byte in data)}?="


def content_of(part: Part) -> bytes:
    """The bytes of a file of a message, which are as many as it says."""
    content = b"".join(decode(part.encoded, set()))
    assert len(content) == part.size_bytes
    return content
