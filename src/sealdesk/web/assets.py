"""What pages are made of: files whose addresses change with what they hold, so browsers keep
them."""

import hashlib
from importlib import resources

from sealdesk.web import conditional
from sealdesk.web.request import Request, Response
from sealdesk.web.router import Operation, operation

_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_KEPT = b"public, max-age=31536000, immutable"


def _read(name: str) -> bytes:
    return (resources.files("sealdesk.web") / "static" / name).read_bytes()


# Read at the start, with the templates' version: files may be replaced while we serve.
_FILES = {name: _read(name) for name in ("desk.css", "desk.js", "icon.svg")}
_VERSIONS = {name: hashlib.sha256(held).hexdigest()[:16] for name, held in _FILES.items()}
# By kind, as the frame of all pages names them.
ADDRESSES = {
    name.rpartition(".")[2]: f"/assets/{name}?{version}" for name, version in _VERSIONS.items()
}


def asset(name: str) -> Operation:
    """The operation of a file: for good at the address that pages name, elsewhere to be asked for
    again, as by pages of another version while nodes are renewed one by one."""
    held, version, kind = _FILES[name], _VERSIONS[name], _KINDS[name.rpartition(".")[2]]

    @operation(name, tag="Pages", headers=("if-none-match",), produces=kind)
    async def serve(request: Request) -> Response:
        kept = _KEPT if request.query == version.encode() else b"no-cache"
        response = Response(200, held, [(b"cache-control", kept)], kind.encode())
        return conditional.unless_unchanged(request, f'"{version}"', response)

    return serve
