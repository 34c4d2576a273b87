"""Bodies that clients hash instead of the bytes that they send, and other ends of the message."""

import base64
import codecs
import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from sealdesk.crypto.diagnosis.serialisations import MAX_BYTES_OF_EVERY_FORM, reserialised
from sealdesk.crypto.signing import body_sha256

# Clients hash these for a request without a body.
_EMPTY_BODIES = (b"{}", b"null", b'""', b"[]", b"undefined", b"None", b"\n")
_OTHER_ALGORITHMS = {"md5": 32, "sha1": 40, "sha384": 96, "sha512": 128}  # and digits of each hash
# curl -d @file removes line ends but not the indentation behind them. The last quote is optional
# so that text without it is read once.
_INDENTATION = re.compile(rb'"(?:[^"\\]|\\.)*"?|  +|\t+', re.DOTALL)
_LINE_ENDS = (b"\n", b"\r\n")
_MAX_LINES = 8 * 1024  # JSON of 64 KiB has fewer; replacing the ends of 65,536 takes 0.8 ms
_MAX_REWRITTEN_BYTES = 16 * 1024  # of larger bodies only frequent mistakes (decision 0067)


def wrong_endings(body: bytes, secret: str, length: int | None) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, end of the message) where the hash of the body must be.

    length: of the end that was signed, if it is known.
    """
    sha256 = hashlib.sha256(body)
    yield "body_hash_uppercase", sha256.hexdigest().upper().encode()
    yield "body_not_hashed", body
    yield "body_omitted", b""
    yield "body_omitted", body_sha256(b"")
    yield "body_hash_not_hex", sha256.digest()
    yield "body_hash_not_hex", sha256.digest().hex("-").upper().encode()  # .NET's BitConverter
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        padded = encode(sha256.digest())
        yield "body_hash_not_hex", padded
        yield "body_hash_not_hex", padded.rstrip(b"=")
    if len(body) > MAX_BYTES_OF_EVERY_FORM:
        return
    for name in (each for each, size in _OTHER_ALGORITHMS.items() if length in (None, size)):
        made = hashlib.new(name, body, usedforsecurity=False).hexdigest()
        yield "body_hash_other_algorithm", made.encode()
    made = hmac.new(secret.encode(), body, "sha256").hexdigest()
    yield "body_hash_other_algorithm", made.encode()


def wrong_bodies(body: bytes) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, body that was hashed); the frequent ones first.

    Line ends come before serialisations, which often result in the same bytes.
    """
    for line_end in _LINE_ENDS:
        yield "newline_appended", body + line_end
    if not body:
        for other in _EMPTY_BODIES:
            yield "body_not_sent", other
        return
    for ended in (body.removesuffix(b"\n"), body.removesuffix(b"\r\n"), body.rstrip(b"\r\n")):
        if ended != body:
            yield "newline_not_signed", ended
    for rest in _with_lost_lines(body):
        yield "newlines_not_sent", rest
    if 0 < body.count(b"\n") <= _MAX_LINES:
        bare = body.replace(b"\r\n", b"\n")
        for other in (bare, bare.replace(b"\n", b"\r\n"), bare.rstrip(b"\n")):
            yield "line_ends_differ", other
    if len(body) <= _MAX_REWRITTEN_BYTES:
        yield from _encoded_twice(body)
    yield from _in_other_encodings(body)
    yield from reserialised(body)
    yield from _in_rare_encodings(body)


def _with_lost_lines(body: bytes) -> Iterator[bytes]:
    """The lines of an indented JSON body that was sent without its line ends."""
    is_possible = body[-1:] in (b"}", b"]") and (b"  " in body or b"\t" in body)
    if b"\n" in body or not is_possible or len(body) > MAX_BYTES_OF_EVERY_FORM:
        return
    lines = _INDENTATION.sub(_on_new_line, body)
    whole = lines[:-1] + b"\n" + lines[-1:]
    for line_end in _LINE_ENDS:
        yield whole.replace(b"\n", line_end)
        yield (whole + b"\n").replace(b"\n", line_end)


def _on_new_line(token: re.Match[bytes]) -> bytes:
    return token[0] if token[0].startswith(b'"') else b"\n" + token[0]


def _encoded_twice(body: bytes) -> Iterator[tuple[str, bytes]]:
    """JSON within a JSON string, as was sent or as was hashed."""
    with suppress(ValueError):
        if body.startswith(b'"'):
            yield "body_encoded_twice", msgspec.json.decode(body, type=str).encode()
        elif len(body) > 1:
            yield "body_encoded_twice", msgspec.json.encode(body.decode())


def _in_other_encodings(body: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        text = body.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        for encoding in ("latin-1", "cp1252"):
            yield "body_encoding_differs", body.decode(encoding, "replace").encode()
        return
    if body.startswith(codecs.BOM_UTF8):
        yield "body_encoding_differs", text.encode()
    yield "body_encoding_differs", codecs.BOM_UTF8 + text.encode()
    if not text.isascii():
        yield "body_encoding_differs", text.encode("latin-1", "replace")


def _in_rare_encodings(body: bytes) -> Iterator[tuple[str, bytes]]:
    if len(body) > _MAX_REWRITTEN_BYTES:
        return
    try:
        text = body.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        return
    if not text.isascii():
        for encoding in ("cp1252", "ascii"):
            yield "body_encoding_differs", text.encode(encoding, "replace")
        yield "body_encoding_differs", text.encode().decode("latin-1").encode()
    if len(body) > MAX_BYTES_OF_EVERY_FORM:
        return
    utf_16 = text.encode("utf-16-le")
    for other in (utf_16, codecs.BOM_UTF16_LE + utf_16):
        yield "body_encoding_differs", other
