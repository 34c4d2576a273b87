"""Builds the site and writes it as one file, which the service reads at its first request."""

import gzip
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from docs_builder import downloads, layout, problems, reference, twins
from docs_builder.site import DOCS, DOWNLOADS, ROOT, SHIPPED, BrokenSite, Site, read_site
from sealdesk.routes import PROBLEM_TYPES, ROUTES
from sealdesk.routes.documented_events import DOCUMENTED_EVENTS
from sealdesk.web.documentation import ARCHIVE, File
from sealdesk.web.openapi.document import document

_THEME = Path(__file__).parent / "theme"
_ICON = ROOT / "src" / "sealdesk" / "web" / "static" / "icon.svg"
_HTML, _MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
_TEXT, _JSON = "text/plain; charset=utf-8", "application/json"
_NOT_IN_REFERENCE = ("Documentation", "Pages")


def build() -> dict[str, File]:
    """The files by the path of their URL. Raises BrokenSite with all faults."""
    openapi = _openapi()
    found = downloads.downloads(msgspec.json.encode(openapi))
    site = read_site(_generated(openapi) | {"downloads.md": downloads.page(found)})
    files = dict(_assets(site)) | html_pages(site)
    for each in found:
        if each.url.startswith(DOWNLOADS):
            files[each.url] = _file(each.content, each.content_type)
    for page in site.pages.values():
        files[f"{page.url}.md"] = _file(twins.twin(site, page).encode(), _MARKDOWN)
    files["/llms.txt"] = _file(twins.llms_txt(site).encode(), _TEXT)
    files["/llms-full.txt"] = _file(twins.llms_full_txt(site).encode(), _TEXT)
    for path, content_type in site.pictures.items():
        files[f"/docs/{path}"] = _file((DOCS / path).read_bytes(), content_type)
    if site.faults:
        raise BrokenSite("\n".join(dict.fromkeys(site.faults)))
    return files


def html_pages(site: Site) -> dict[str, File]:
    """The HTML of each page. Adds broken links to `site.faults`."""
    versions = {url: file.version for url, file in _assets(site)}
    return {
        page.url: _file(layout.html_of(site, page, versions).encode(), _HTML)
        for page in site.pages.values()
    }


def write(files: dict[str, File], path: Path = ARCHIVE) -> None:
    """Write the archive. The file is replaced as a whole; the same pages give the same bytes."""
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(msgspec.msgpack.encode(dict(sorted(files.items()))))
    new.replace(path)


def _openapi() -> dict[str, Any]:
    """The document as the service serves it at /openapi.json."""
    routes = [route for route in ROUTES if route.operation.tag not in _NOT_IN_REFERENCE]
    return document(routes, PROBLEM_TYPES, DOCUMENTED_EVENTS)


def _generated(openapi: dict[str, Any]) -> dict[str, str]:
    return {**reference.pages(openapi), "errors.md": problems.page(PROBLEM_TYPES)}


def _assets(site: Site) -> Iterator[tuple[str, File]]:
    yield "/docs/assets/icon.svg", _file(_ICON.read_bytes(), "image/svg+xml")
    yield (
        "/docs/assets/site.css",
        _file((_THEME / "site.css").read_bytes(), "text/css; charset=utf-8"),
    )
    script = (_THEME / "site.js").read_bytes()
    yield "/docs/assets/site.js", _file(script, "text/javascript; charset=utf-8")
    for path, url in SHIPPED.items():
        yield url, _file((ROOT / path).read_bytes(), _JSON)
    yield "/docs/search.json", _file(_index(site), _JSON)


def _index(site: Site) -> bytes:
    """[[title of the page, path below /docs, [[heading, anchor, text], …]], …]."""
    return msgspec.json.encode([
        [page.document.title, page.url.removeprefix("/docs"),
         [[each.heading.text, each.heading.anchor, each.text] for each in page.document.sections]]
        for page in site.pages.values()
    ])  # fmt: skip


def _file(content: bytes, content_type: str) -> File:
    is_gzip = content_type not in ("image/webp", "application/octet-stream")
    stored = gzip.compress(content, mtime=0) if is_gzip else content
    return File(content_type, stored, is_gzip, hashlib.sha256(content).hexdigest()[:16])
