"""Targets as clients write them when they do not sign the path and the query as sent."""

import re
from collections.abc import Iterator
from itertools import permutations
from urllib.parse import quote, quote_plus, unquote_to_bytes

_API_PREFIXES = (b"/api/v1/external", b"/api/v1", b"/api")
_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")
_ORIGIN = re.compile(rb"\Ahttps?://[^/?]*")
_SEPARATOR = re.compile(rb"[?&]")
# What libraries leave unescaped, or escape, differently: RFC 3986 reserves them.
_ESCAPE_OF_RESERVED = re.compile(rb"%(?:2[1478aAbBcCfF]|3[aAbB]|40|7[eE]|5[bBdD])")
_SAFE_CHARACTERS = ("/?&=", "/?&=,:", "/?&=%", "/?&=%,:", "/", "")
_MAX_ESCAPED_BYTES = 512  # of longer targets the escapes are not tried, which take 50 ns a byte
_ORDERED_PARAMETERS = 4  # 24 orders; of more parameters only those that sorting makes


def wrong_targets(target: bytes, host: bytes) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, target). host: the Host header."""
    path, mark, query = target.partition(b"?")
    if mark:
        yield "query_string_not_signed", path
        yield from _other_queries(path, query)
    else:
        yield "trailing_question_mark", target + b"?"
    for scheme in (b"https://", b"http://"):
        yield "full_url_signed", scheme + host + target
    for start in (b"", b"//"):
        yield "host_signed", start + host + target
    yield "leading_slash_missing", target[1:]
    other_end = path[:-1] if path.endswith(b"/") else path + b"/"
    yield "trailing_slash_differs", other_end + mark + query
    if len(target) <= _MAX_ESCAPED_BYTES:
        yield from _other_escapes(target)
    for rest in _without_prefix(target):
        yield "api_prefix_missing", rest
        yield "api_prefix_missing", rest[1:]


def name_of_other(signed: bytes, received: bytes) -> str | None:
    """The name of what makes one target of the other, None if it is more than one thing."""
    path, origin = _ORIGIN.subn(b"", signed, count=1)
    if origin and path == received:
        return "full_url_signed"
    if _in_upper_case(signed) == _in_upper_case(received):
        return "percent_encoding_case"
    is_sorted = sorted(_SEPARATOR.split(signed)) == sorted(_SEPARATOR.split(received))
    return "query_sorted" if is_sorted else None


def _in_upper_case(target: bytes) -> bytes:
    return _ESCAPE.sub(lambda found: found[0].upper(), target)


def _other_queries(path: bytes, query: bytes) -> Iterator[tuple[str, bytes]]:
    yield "space_encoding_differs", path + b"?" + query.replace(b"+", b"%20")
    yield "space_encoding_differs", path + b"?" + query.replace(b"%20", b"+")
    fields = query.split(b"&")
    if len(fields) <= _ORDERED_PARAMETERS:
        orders = [list(each) for each in permutations(fields)][1:]
    else:
        orders = [sorted(fields), sorted(fields, reverse=True), fields[::-1]]
    for order in orders:
        yield "query_sorted", path + b"?" + b"&".join(order)


def _other_escapes(target: bytes) -> Iterator[tuple[str, bytes]]:
    yield "percent_encoding_case", _ESCAPE.sub(lambda found: found[0].lower(), target)
    yield "percent_encoding_case", _in_upper_case(target)
    decoded = unquote_to_bytes(target)
    yield "target_percent_decoded", decoded
    yield "target_percent_decoded", decoded.replace(b"+", b" ")
    yield "target_percent_decoded", _ESCAPE_OF_RESERVED.sub(_unquote, target)
    path, mark, query = target.partition(b"?")
    yield "target_percent_decoded", path + mark + unquote_to_bytes(query.replace(b"+", b" "))
    for safe in _SAFE_CHARACTERS:
        yield "target_percent_encoded", quote(target, safe=safe).encode()
    for safe in _SAFE_CHARACTERS[:2]:
        yield "target_percent_encoded", quote(decoded, safe=safe).encode()
    plus = quote_plus(unquote_to_bytes(query.replace(b"+", b" ")), safe="&=")
    yield "target_percent_encoded", path + mark + plus.encode()


def _unquote(found: re.Match[bytes]) -> bytes:
    return unquote_to_bytes(found[0])


def _without_prefix(target: bytes) -> Iterator[bytes]:
    """The target without each prefix that clients omit; the prefix of a proxy first."""
    at = max(target.partition(b"?")[0].find(b"/api/v1/"), 0)
    if at:
        yield target[at:]
    for prefix in _API_PREFIXES:
        if target.startswith(prefix, at):
            yield target[at + len(prefix) :]
