"""Serves static files; an address with a version is cached for a year."""

import gzip
import hashlib
import re
from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from sealdesk.web import conditional
from sealdesk.web.operation import Operation, operation
from sealdesk.web.request import Header, Request, Response

_CONTENT_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
IMMUTABLE = b"public, max-age=31536000, immutable"
# Responses that hold a secret are never compressed (BREACH, breachattack.com); these hold none.
_COMPRESSED = ("css", "js")
_GZIP_WITH_WEIGHT = re.compile(r"gzip;q=(?:1(?:\.0*)?|0\.\d*[1-9]\d*)")

# What all pages load, and some besides, in one request: files of static/desk in this order.
_PARTS = {
    "desk.css": """
        base icons shell live inbox rows views ticket composer combobox uploads usage phone media
    """.split(),
    "team_now.css": ["team_now"],
    "reports.css": ["reports"],
    "desk.js": """
        base keys combobox macros list bulk palette poll live bell inbox views ticket news
        snooze fields uploads preview export suggest mentions tags panes
    """.split(),
}


class Content(NamedTuple):
    """A file to serve. compressed: None where compressing gains nothing."""

    version: str
    content_type: str
    plain: Callable[[], bytes]
    compressed: bytes | None


_FONT = "inter.woff2"  # made by scripts/subset-inter.sh


def _read(name: str) -> bytes:
    static = resources.files("sealdesk.web") / "static"
    if name == _FONT:
        return (static / "fonts" / name).read_bytes()
    if name not in _PARTS:
        return (static / name).read_bytes()
    suffix = name.rpartition(".")[2]
    parts = (static / "desk" / f"{part}.{suffix}" for part in _PARTS[name])
    content = b"\n".join(part.read_bytes() for part in parts)
    return content + _dark(static / "desk" / "dark.css") if name == "desk.css" else content


def _dark(tokens: Traversable) -> bytes:
    """The dark colours twice: where the system is dark, and where a person has chosen them."""
    rule = tokens.read_bytes()
    system = rule.replace(b":root", b":root:where(:not([data-theme=light]))")
    chosen = rule.replace(b":root {", b":root:where([data-theme=dark]) { color-scheme: dark;")
    return b"@media screen { @media (prefers-color-scheme: dark) {%b}\n%b}\n" % (system, chosen)


def _version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


# Read at the start, as the templates are: files may be replaced while we serve.
FILES = {name: _read(name) for name in (*_PARTS, _FONT, "icon.svg", "icons.svg")}
# The styles name the font and the icons with their versions, so that they are cached like them.
for _name in (_FONT, "icons.svg"):
    FILES["desk.css"] = FILES["desk.css"].replace(
        f"url({_name})".encode(), f"url({_name}?{_version(FILES[_name])})".encode()
    )
_VERSIONS = {name: _version(content) for name, content in FILES.items()}


def content(name: str) -> bytes:
    return FILES[name]


def address(name: str) -> str:
    """The address of a file with its version, as pages link it."""
    return f"/assets/{name}?{_VERSIONS[name]}"


def asset(name: str) -> Operation:
    """The operation that serves a file of `static`.

    Without the current version in the query, browsers revalidate: while nodes are renewed one by
    one, a page of another version may link a file of this one.
    """
    version, suffix = _VERSIONS[name], name.rpartition(".")[2]
    content_type = _CONTENT_TYPES[suffix]
    compressed = gzip.compress(FILES[name], mtime=0) if suffix in _COMPRESSED else None

    @operation(name, tag="Pages", headers=("if-none-match",), produces=content_type)
    async def serve(request: Request) -> Response:
        caching = IMMUTABLE if request.query == version.encode() else b"no-cache"
        content = Content(version, content_type, lambda: FILES[name], compressed)
        return respond(request, content, (b"cache-control", caching))

    return serve


def respond(request: Request, content: Content, *headers: Header) -> Response:
    """The response with a file, compressed where that is accepted, or 304."""
    own, etag, is_compressed = [*headers], f'"{content.version}"', False
    if content.compressed is not None:
        own.append((b"vary", b"accept-encoding"))
        is_compressed = _accepts_gzip(request)
    if is_compressed:
        own.append((b"content-encoding", b"gzip"))
        etag = f'"{content.version}-gzip"'
    body = b""
    if not conditional.is_unchanged(request, etag):
        body = content.compressed if is_compressed and content.compressed else content.plain()
    response = Response(200, body, own, content.content_type.encode())
    return conditional.unless_unchanged(request, etag, response)


def _accepts_gzip(request: Request) -> bool:
    """Whether Accept-Encoding names gzip, and not to refuse it (RFC 9110 section 12.5.3)."""
    accepted = request.headers.get(b"accept-encoding", b"").decode("latin-1").lower()
    parts = [part.replace(" ", "") for part in accepted[:500].split(",")]
    return any(part == "gzip" or _GZIP_WITH_WEIGHT.fullmatch(part) for part in parts)
