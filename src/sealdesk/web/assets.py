"""Serves static files; an address with a version is cached for a year."""

import gzip
import hashlib
import re
from importlib import resources
from importlib.resources.abc import Traversable

from sealdesk.web import conditional
from sealdesk.web.operation import Operation, operation
from sealdesk.web.request import Request, Response

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
        snooze fields uploads preview export suggest tags panes
    """.split(),
}


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
_FILES = {name: _read(name) for name in (*_PARTS, _FONT, "icon.svg", "icons.svg")}
# The styles name the font and the icons with their versions, so that they are cached like them.
for _name in (_FONT, "icons.svg"):
    _FILES["desk.css"] = _FILES["desk.css"].replace(
        f"url({_name})".encode(), f"url({_name}?{_version(_FILES[_name])})".encode()
    )
_VERSIONS = {name: _version(content) for name, content in _FILES.items()}


def content(name: str) -> bytes:
    return _FILES[name]


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
    compressed = gzip.compress(_FILES[name], mtime=0) if suffix in _COMPRESSED else None

    @operation(name, tag="Pages", headers=("if-none-match",), produces=content_type)
    async def serve(request: Request) -> Response:
        caching = IMMUTABLE if request.query == version.encode() else b"no-cache"
        content, etag, headers = _FILES[name], version, [(b"cache-control", caching)]
        if compressed is not None:
            headers.append((b"vary", b"accept-encoding"))
            if accepts_gzip(request):
                content, etag = compressed, f"{version}-gzip"
                headers.append((b"content-encoding", b"gzip"))
        response = Response(200, content, headers, content_type.encode())
        return conditional.unless_unchanged(request, f'"{etag}"', response)

    return serve


def accepts_gzip(request: Request) -> bool:
    """Whether Accept-Encoding names gzip, and not to refuse it (RFC 9110 section 12.5.3)."""
    accepted = request.headers.get(b"accept-encoding", b"").decode("latin-1").lower()
    parts = [part.replace(" ", "") for part in accepted[:500].split(",")]
    return any(part == "gzip" or _GZIP_WITH_WEIGHT.fullmatch(part) for part in parts)
