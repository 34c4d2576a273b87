"""The requests of `sealdesk doctor --public-url`: bytes that proxies are known to change.

Each probe goes to a signed route, so that the service itself checks what arrived. No probe changes
data: the ids that they name cannot exist.
"""

from typing import Literal, NamedTuple

from sealdesk.web.request import MAX_BODY_BYTES

# Whether HTTP and URLs allow the request. "required": it must arrive unchanged. "tolerated": a
# proxy may refuse it, but not change it. "forbidden": the service itself refuses it.
Legality = Literal["required", "tolerated", "forbidden"]
# How the three signature headers are written.
HeaderStyle = Literal["plain", "padded", "capitals", "twice"]

_API = b"/api/v1/external"
WHOAMI = _API + b"/whoami"
_TICKETS = _API + b"/tickets"
_NO_REPLIES = _TICKETS + b"/-/replies"
_LONG_LINE = (
    8000  # octets that every recipient of a request line should support (RFC 9112 section 3)
)
_JSON = b'{\r\n\t"probe" : "caf\xc3\xa9 \\u00e9 \\/ + %2F",  "probe":1.0}\n'


class Probe(NamedTuple):
    """One request. target: path and query, without the path of the public URL."""

    method: str
    target: bytes
    body: bytes = b""
    is_chunked: bool = False
    header_style: HeaderStyle = "plain"
    legality: Legality = "required"


def _get(*targets: bytes, legality: Legality = "required") -> tuple[Probe, ...]:
    return tuple(Probe("GET", target, legality=legality) for target in targets)


def _query(*queries: bytes, legality: Legality = "required") -> tuple[Probe, ...]:
    return _get(*(WHOAMI + b"?" + query for query in queries), legality=legality)


def _ticket(*ids: bytes, legality: Legality = "required") -> tuple[Probe, ...]:
    return _get(*(_TICKETS + b"/" + identifier for identifier in ids), legality=legality)


def _long_query() -> Probe:
    head = WHOAMI + b"?long="
    return Probe("GET", head + b"x" * (_LONG_LINE - len(b"GET  HTTP/1.1\r\n") - len(head)))


# A group is one finding. `//` and `/./` are in the place of a ticket's id: the route matches an
# empty id too, so the response depends on the signature.
GROUPS: dict[str, tuple[Probe, ...]] = {
    "plain": _get(WHOAMI),
    "%2F %2f": (*_ticket(b"a%2Fb", b"a%2fb"), *_query(b"p=a%2Fb", b"p=a%2fb", b"p=a/b")),
    "%25": (*_ticket(b"%25", b"a%252Fb"), *_query(b"p=%252F", b"p=100%25")),
    "%61": (*_ticket(b"%61", b"%7e", b"~"), *_query(b"%70=%61%7E%2D")),
    "+ %20": (*_ticket(b"a+b", b"a%20b", b"a%2Bb"), *_query(b"p=a+b", b"p=a%20b", b"p=a%2Bb")),
    "//": (*_get(_TICKETS + b"//replies"), *_query(b"p=//", b"p=http://a//b")),
    "é": (*_ticket(b"%C3%A9", b"%c3%a9", b"%E9"), *_query(b"p=%C3%A9", b"p=%c3%a9")),
    "é raw": (
        *_ticket(b"\xc3\xa9", legality="forbidden"),
        *_query(b"p=\xc3\xa9", legality="forbidden"),
    ),
    ". ..": (
        *_get(_TICKETS + b"/./replies", _TICKETS + b"/../replies", _TICKETS + b"/.."),
        *_ticket(b"%2e", b"%2E%2e"),
        *_query(b"p=/../a"),
    ),
    "; : @": (
        *_ticket(b"a;b=c", b"a:b", b"a@b", b"a,b", b"a!$&'()*=b"),
        *_query(b"a;b", b"p=:@!$'()*,;?/"),
    ),
    "[ ] |": _query(b"p[]=a|b^c", b'p={"a"}', b"p=a\\b`c", legality="tolerated"),
    "query": _query(b"b=2&a=1", b"a=1&a=1", b"&a&&b=&=&", b"a=1&", b"a?b?c", b"=", b"utm_source=a"),
    "long": (_long_query(),),
    "bodies": (
        Probe("POST", _NO_REPLIES),
        Probe("POST", _NO_REPLIES, b"{}"),
        Probe("POST", _NO_REPLIES, _JSON),
        Probe("POST", _NO_REPLIES, b" " * 70_000 + _JSON),
        Probe("POST", _NO_REPLIES, bytes(range(256)) * (MAX_BODY_BYTES // 256)),
        Probe("POST", _NO_REPLIES, _JSON, is_chunked=True),
    ),
    "methods": (
        Probe("PATCH", _TICKETS + b"/-", _JSON),
        Probe("HEAD", WHOAMI),
        Probe("GET", WHOAMI, b"{}", legality="tolerated"),
    ),
    "headers": (
        Probe("GET", WHOAMI, header_style="padded"),
        Probe("GET", WHOAMI, header_style="capitals"),
    ),
}
REPEATED_HEADER = Probe("GET", WHOAMI, header_style="twice")
