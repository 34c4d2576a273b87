"""The requests of `sealdesk doctor --public-url`: what proxies are known to change.

Each goes to a route behind the guard of signed requests, so that the service itself proves what
arrived. None has an effect: no id that they name can exist.
"""

from typing import Literal, NamedTuple

from sealdesk.web.request import MAX_BODY_BYTES

# Whether HTTP and URLs allow what is sent. "required": it must arrive. "tolerated": somebody in
# between may refuse it, but not change it. "forbidden": the service itself refuses it.
Legality = Literal["required", "tolerated", "forbidden"]
# How the three headers of the signature are written.
Writing = Literal["plain", "padded", "capitals", "twice"]

_API = b"/api/v1/external"
WHOAMI = _API + b"/whoami"
_TICKETS = _API + b"/tickets"
_NO_REPLIES = _TICKETS + b"/-/replies"
_LONG_LINE = 8000  # what every recipient should take in a request line (RFC 9112 section 3)
_JSON = b'{\r\n\t"probe" : "caf\xc3\xa9 \\u00e9 \\/ + %2F",  "probe":1.0}\n'


class Probe(NamedTuple):
    """One request. target: as it is sent, without the path of the public URL."""

    method: str
    target: bytes
    body: bytes = b""
    is_chunked: bool = False
    writing: Writing = "plain"
    legality: Legality = "required"


def _get(*targets: bytes, legality: Legality = "required") -> tuple[Probe, ...]:
    return tuple(Probe("GET", target, legality=legality) for target in targets)


def _asked(*queries: bytes, legality: Legality = "required") -> tuple[Probe, ...]:
    return _get(*(WHOAMI + b"?" + query for query in queries), legality=legality)


def _ticket(*ids: bytes, legality: Legality = "required") -> tuple[Probe, ...]:
    return _get(*(_TICKETS + b"/" + identifier for identifier in ids), legality=legality)


def _long() -> Probe:
    head = WHOAMI + b"?long="
    return Probe("GET", head + b"x" * (_LONG_LINE - len(b"GET  HTTP/1.1\r\n") - len(head)))


# A group is one line of the findings. `//` and `/./` stand where the id of a ticket is: there even
# an empty one finds the route, and the signature is what decides.
GROUPS: dict[str, tuple[Probe, ...]] = {
    "plain": _get(WHOAMI),
    "%2F %2f": (*_ticket(b"a%2Fb", b"a%2fb"), *_asked(b"p=a%2Fb", b"p=a%2fb", b"p=a/b")),
    "%25": (*_ticket(b"%25", b"a%252Fb"), *_asked(b"p=%252F", b"p=100%25")),
    "%61": (*_ticket(b"%61", b"%7e", b"~"), *_asked(b"%70=%61%7E%2D")),
    "+ %20": (*_ticket(b"a+b", b"a%20b", b"a%2Bb"), *_asked(b"p=a+b", b"p=a%20b", b"p=a%2Bb")),
    "//": (*_get(_TICKETS + b"//replies"), *_asked(b"p=//", b"p=http://a//b")),
    "é": (*_ticket(b"%C3%A9", b"%c3%a9", b"%E9"), *_asked(b"p=%C3%A9", b"p=%c3%a9")),
    "é raw": (
        *_ticket(b"\xc3\xa9", legality="forbidden"),
        *_asked(b"p=\xc3\xa9", legality="forbidden"),
    ),
    ". ..": (
        *_get(_TICKETS + b"/./replies", _TICKETS + b"/../replies", _TICKETS + b"/.."),
        *_ticket(b"%2e", b"%2E%2e"),
        *_asked(b"p=/../a"),
    ),
    "; : @": (
        *_ticket(b"a;b=c", b"a:b", b"a@b", b"a,b", b"a!$&'()*=b"),
        *_asked(b"a;b", b"p=:@!$'()*,;?/"),
    ),
    "[ ] |": _asked(b"p[]=a|b^c", b'p={"a"}', b"p=a\\b`c", legality="tolerated"),
    "query": _asked(b"b=2&a=1", b"a=1&a=1", b"&a&&b=&=&", b"a=1&", b"a?b?c", b"=", b"utm_source=a"),
    "long": (_long(),),
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
        Probe("GET", WHOAMI, writing="padded"),
        Probe("GET", WHOAMI, writing="capitals"),
    ),
}
TWICE = Probe("GET", WHOAMI, writing="twice")
