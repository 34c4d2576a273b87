"""The forms in which libraries serialise the same JSON."""

from collections.abc import Iterator
from json.encoder import encode_basestring_ascii

import msgspec

MAX_BYTES_OF_EVERY_FORM = 5 * 1024  # of larger bodies only two, which take 0.5 ms (decision 0067)
_MAX_DEPTH = 8  # deeper ones are rare, and reading and indenting 5 KiB of them takes 0.4 ms
_MAX_LAYOUT_BYTES = 16 * 1024
_COMPACT, _DEFAULT = -1, 0  # for msgspec.json.format
_LAYOUTS = {
    _COMPACT: "body_reserialised_compact",
    _DEFAULT: "body_reserialised_default",
    2: "body_reserialised_pretty",
    4: "body_reserialised_pretty",
}
_SORTED, _SLASHES = "body_reserialised_sorted", "body_slashes_escaped"
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_HTML = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}  # as Go writes them


def reserialised(
    body: bytes, *, max_bytes_of_every_form: int = MAX_BYTES_OF_EVERY_FORM
) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, bytes) of each form of a JSON body that clients are known to hash.

    The most frequent layout of all of them comes first.
    """
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
    documents = _documents(compact, plain)
    if ordered != plain:
        for document in (ordered, _escaped(ordered)):
            documents.setdefault(document, _SORTED)
    for layout, usual in _LAYOUTS.items():
        for document, name in [*documents.items()]:
            is_compact = layout == _COMPACT
            laid_out = document if is_compact else msgspec.json.format(document, indent=layout)
            if len(laid_out) > _MAX_LAYOUT_BYTES:
                del documents[document]  # the wider layouts are larger
                continue
            yield from _variants(laid_out, name or usual, layout)


def _is_flat(document: bytes) -> bool:
    """Whether it is nested at most 8 deep; brackets in strings may make it look deeper."""
    brackets = document.translate(None, _NOT_BRACKETS)
    for _ in range(_MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return True
    return False


def _documents(compact: bytes, plain: bytes) -> dict[bytes, str]:
    """Each document as libraries write it → the name of the mistake, "" for that of its layout."""
    documents = {compact: ""}
    name = _SLASHES if b"\\/" in compact else ""
    for bare in (compact.replace(b"\\/", b"/"), plain):
        for written in (bare, _escaped(bare), _escaped_for_html(bare)):
            documents.setdefault(written, name)
    return documents


def _variants(laid_out: bytes, name: str, layout: int) -> Iterator[tuple[str, bytes]]:
    """(name, a document in this layout), and what libraries make of it."""
    # Go, which escapes for HTML, writes no spaces in lines; no library does that escapes slashes.
    is_of_go = any(escape in laid_out for escape in _HTML.values())
    if is_of_go and layout == _DEFAULT:
        return
    yield name, laid_out
    if name == _SORTED:
        return
    if layout == 2:
        yield _LAYOUTS[layout], laid_out.replace(b"  ", b"\t")
    if b"/" in laid_out and layout != _DEFAULT and not is_of_go:
        yield _SLASHES, laid_out.replace(b"\\/", b"/").replace(b"/", b"\\/")


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
