"""The documentation site: files that `docs_builder` has written into one archive."""

import asyncio
import gzip
from functools import cache, lru_cache, partial
from pathlib import Path

import msgspec

from sealdesk.errors import NotFound
from sealdesk.errors.general import NO_SUCH_PATH
from sealdesk.web.assets import IMMUTABLE, Content, respond
from sealdesk.web.operation import operation
from sealdesk.web.request import Header, Request, Response

ARCHIVE = Path(__file__).with_name("documentation.msgpack")
NOT_BUILT = NO_SUCH_PATH.variant("The documentation is not built here. Run `make docs`.")
# Only files of this service: no inline style or script, no framing, no form.
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS: list[Header] = [
    (b"content-security-policy", _POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


class File(msgspec.Struct, frozen=True, array_like=True):
    """A file of the site. content: compressed if is_gzip is true. version: of the content."""

    content_type: str
    content: bytes
    is_gzip: bool
    version: str


def read_archive(path: Path = ARCHIVE) -> dict[str, File]:
    """The files of the site by the path of their URL; empty if it is not built."""
    if not path.exists():
        return {}
    return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, File])


@cache
def _files() -> dict[str, File]:
    """Read at the first request, so that a start does not wait for 2 MB from the disk."""
    return read_archive()


@operation("A page of the documentation", tag="Documentation", headers=("if-none-match",))
async def serve_documentation(request: Request, *_: str) -> Response:
    """A file of the documentation. Its path is looked up in a table, never on the disk."""
    files = _files() if _files.cache_info().currsize else await asyncio.to_thread(_files)
    file = files.get(request.path)
    if file is None:
        raise NotFound(NO_SUCH_PATH if files else NOT_BUILT)
    caching = IMMUTABLE if request.query == file.version.encode() else b"no-cache"
    headers: list[Header] = [(b"cache-control", caching)]
    if file.content_type.startswith("text/html"):
        headers += _PAGE_HEADERS
    compressed = file.content if file.is_gzip else None
    content = Content(file.version, file.content_type, partial(_plain, file), compressed)
    return respond(request, content, *headers)


@lru_cache(maxsize=64)
def _plain(file: File) -> bytes:
    return gzip.decompress(file.content) if file.is_gzip else file.content
