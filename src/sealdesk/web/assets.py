"""Serves static files; an address with a version is cached for a year."""

import hashlib
from importlib import resources

from sealdesk.web import conditional
from sealdesk.web.operation import Operation, operation
from sealdesk.web.request import Request, Response

_CONTENT_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
_IMMUTABLE = b"public, max-age=31536000, immutable"


# What the pages load in one request, from the files of static/desk in this order.
_PARTS = {
    "desk.css": (
        "base",
        "live",
        "inbox",
        "turn",
        "views",
        "phone",
        "ticket",
        "composer",
        "uploads",
        "usage",
        "media",
    ),
    "desk.js": (
        "base",
        "keys",
        "list",
        "palette",
        "poll",
        "live",
        "bell",
        "inbox",
        "views",
        "ticket",
        "news",
        "fields",
        "uploads",
        "panes",
    ),
}


_FONT = "inter.woff2"  # made by scripts/subset-inter.sh


def _read(name: str) -> bytes:
    static = resources.files("sealdesk.web") / "static"
    if name == _FONT:
        return (static / "fonts" / name).read_bytes()
    if name not in _PARTS:
        return (static / name).read_bytes()
    folder, suffix = name.split(".")
    return b"\n".join((static / folder / f"{part}.{suffix}").read_bytes() for part in _PARTS[name])


def _version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


# Read at the start, as the templates are: files may be replaced while we serve.
_FILES = {
    name: _read(name) for name in (*_PARTS, _FONT, "icon.svg", "reference.css", "reference.js")
}
# The styles name the font with its version, so that it is cached like them.
_FILES["desk.css"] = _FILES["desk.css"].replace(
    f"url({_FONT})".encode(), f"url({_FONT}?{_version(_FILES[_FONT])})".encode()
)
_VERSIONS = {name: _version(content) for name, content in _FILES.items()}


def content(name: str) -> bytes:
    """The content of a file."""
    return _FILES[name]


def address(name: str) -> str:
    """The address of a file with its version, as pages link it."""
    return f"/assets/{name}?{_VERSIONS[name]}"


def asset(name: str) -> Operation:
    """The operation that serves a file of `static`.

    Without the current version in the query, browsers revalidate: while nodes are renewed one by
    one, a page of another version may link a file of this one.
    """
    content, version = _FILES[name], _VERSIONS[name]
    content_type = _CONTENT_TYPES[name.rpartition(".")[2]]

    @operation(name, tag="Pages", headers=("if-none-match",), produces=content_type)
    async def serve(request: Request) -> Response:
        caching = _IMMUTABLE if request.query == version.encode() else b"no-cache"
        response = Response(200, content, [(b"cache-control", caching)], content_type.encode())
        return conditional.unless_unchanged(request, f'"{version}"', response)

    return serve
