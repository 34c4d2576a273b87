"""The forms in which libraries serialise the same JSON."""

from collections.abc import Iterator
from json.encoder import encode_basestring_ascii

import msgspec

MAX_BYTES_OF_EVERY_FORM = 5 * 1024  # of larger bodies only two, which take 0.5 ms (decision 0067)
_MAX_DEPTH = 32  # of bodies that the API accepts: the indentation of deeper ones is quadratic
_MAX_LAYOUT_BYTES = 16 * 1024
_COMPACT, _DEFAULT = -1, 0  # for msgspec.json.format
_LAYOUTS = {
    _COMPACT: "body_reserialised_compact",
    _DEFAULT: "body_reserialised_default",
    2: "body_reserialised_pretty",
    4: "body_reserialised_pretty",
}
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_HTML = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}  # as Go writes them


def reserialised(
    body: bytes, *, max_bytes_of_every_form: int = MAX_BYTES_OF_EVERY_FORM
) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, bytes) of each form of a JSON body that clients are known to hash."""
    try:
        compact = msgspec.json.format(body, indent=_COMPACT)
        if len(body) > max_bytes_of_every_form or not _is_flat(body):
            yield "body_reserialised_compact", compact
            yield "body_reserialised_default", msgspec.json.format(body, indent=_DEFAULT)
            return
        value = msgspec.json.decode(body)
        plain = msgspec.json.encode(value)
        ordered = msgspec.json.encode(value, order="sorted")
    except (ValueError, RecursionError):
        return
    for document in dict.fromkeys((compact, plain)):
        yield from _layouts_of(document)
    for document in dict.fromkeys((ordered, _escaped(ordered))) if ordered != plain else ():
        for _, laid_out in _lay_out(document):
            yield "body_reserialised_sorted", laid_out


def _is_flat(document: bytes) -> bool:
    """Whether it is nested at most 32 deep; brackets in strings may make it look deeper."""
    brackets = document.translate(None, _NOT_BRACKETS)
    for _ in range(_MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return True
    return False


def _layouts_of(document: bytes) -> Iterator[tuple[str, bytes]]:
    bare = document.replace(b"\\/", b"/")
    for written in dict.fromkeys((document, bare, _escaped(bare), _escaped_for_html(bare))):
        has_other_slashes = written is not document and bare != document
        for layout, laid_out in _lay_out(written):
            name = _LAYOUTS[layout]
            yield "body_slashes_escaped" if has_other_slashes else name, laid_out
            if layout == 2:
                yield name, laid_out.replace(b"  ", b"\t")
            if b"/" in bare:
                yield "body_slashes_escaped", _with_escaped_slashes(laid_out)


def _lay_out(document: bytes) -> Iterator[tuple[int, bytes]]:
    """(layout, a compact document in this layout), up to the first one that is too large."""
    for layout in _LAYOUTS:
        is_compact = layout == _COMPACT
        laid_out = document if is_compact else msgspec.json.format(document, indent=layout)
        if len(laid_out) > _MAX_LAYOUT_BYTES:
            return
        yield layout, laid_out


def _with_escaped_slashes(document: bytes) -> bytes:
    return document.replace(b"\\/", b"/").replace(b"/", b"\\/")


def _escaped(document: bytes) -> bytes:
    """In ASCII, as Python and PHP write it by default.

    document: JSON, which has no NUL. The library escapes a string: what it makes of the quotes and
    backslashes around and in the strings of a document is undone.
    """
    if document.isascii():
        return document
    escaped = encode_basestring_ascii(document.decode())[1:-1]
    return escaped.replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\").encode("ascii")


def _escaped_for_html(document: bytes) -> bytes:
    for character, escape in _HTML.items():
        document = document.replace(character, escape)
    return document
