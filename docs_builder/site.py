"""The pages of the site by their path in `docs/`, and the addresses that links lead to."""

import posixpath
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from docs_builder.document import Document
from sealdesk.web.openapi.tags import TAGS, path_of_tag

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_PICTURES = {".webp": "image/webp", ".svg": "image/svg+xml"}


# Files of the source outside `docs/` that the site has too, by their URL.
SHIPPED = {"tests/vectors/signatures.json": "/docs/vectors.json"}
# The folder of the files of the page Downloads.
DOWNLOADS = "/docs/downloads"
_SERVED = ("/openapi.json", "/llms.txt", "/llms-full.txt", "/docs.md")
_PARTS = {path_of_tag(tag) for tag in TAGS}


class BrokenSite(Exception):
    """The site has faults; its text names each in a line."""


class Page:
    """A page. path: in `docs/`, such as `api/signing.md`, also of a page that is generated."""

    def __init__(self, path: str, markdown: str) -> None:
        self.path = path
        self.markdown = markdown
        self.url = _url_of(path)

    @cached_property
    def document(self) -> Document:
        """The parsed page."""
        return Document(self.markdown)


class Section(NamedTuple):
    """A part of the navigation."""

    title: str
    pages: list[Page]


class Site:
    """All pages in the order of the navigation, and the pictures that they show."""

    def __init__(self, sections: list[Section], files: set[str]) -> None:
        self.sections = sections
        self.pages = {page.path: page for section in sections for page in section.pages}
        self.urls = {page.url: page for page in self.pages.values()}
        self._files = files
        self.pictures: dict[str, str] = {}  # path in `docs/` → content type
        self.faults: list[str] = []

    def address(self, page: Page, target: str) -> str | None:
        """The relative address of a link on a page; None for a file that only the source has.

        target: as written in the Markdown: a relative path in `docs/`, with an anchor or without.
        """
        path, _, anchor = target.partition("#")
        found = self.find(page, path)
        if found is None:
            return self._file(page, _full_path(page, path), target)
        if anchor and anchor not in found.document.anchors:
            self.faults.append(f"{page.path}: {target}: no such heading")
        suffix = f"#{anchor}" if anchor else ""
        return suffix if not path else relative(found.url, page.url) + suffix

    def find(self, page: Page, path: str) -> Page | None:
        """The page to which a relative path leads from another page."""
        full = _full_path(page, path)
        return self.pages.get(full.removeprefix("docs/")) if full.startswith("docs/") else None

    def url_address(self, page: Page, url: str) -> str | None:
        """The relative address of a URL of the service in a text, such as `/docs/errors`."""
        path, _, anchor = url.partition("#")
        found = self.urls.get(path)
        is_file = path in SHIPPED.values() or path.startswith(f"{DOWNLOADS}/")
        if path in _SERVED or path in _PARTS or is_file:
            return relative(path, page.url)
        if found is None or (anchor and anchor not in found.document.anchors):
            return None
        return relative(found.url, page.url) + (f"#{anchor}" if anchor else "")

    def _file(self, page: Page, full: str, target: str) -> str | None:
        if full not in self._files and f"{full}/" not in self._files:
            self.faults.append(f"{page.path}: {target}: no such file")
        if full in SHIPPED:
            return relative(SHIPPED[full], page.url)
        suffix = posixpath.splitext(full)[1]
        if not full.startswith("docs/") or suffix not in _PICTURES:
            return None
        self.pictures[full.removeprefix("docs/")] = _PICTURES[suffix]
        return relative(f"/{full}", page.url)


def relative(url: str, base_url: str) -> str:
    """The address of a URL path as seen from another one, also below a proxy's path prefix."""
    return posixpath.relpath(url, posixpath.dirname(base_url))


def _full_path(page: Page, path: str) -> str:
    """The path in the checkout to which a relative path on a page leads."""
    folder = posixpath.dirname(page.path)
    return posixpath.normpath(posixpath.join("docs", folder, path or posixpath.basename(page.path)))


def read_site(generated: Mapping[str, str]) -> Site:
    """The pages of `docs/nav.toml`. generated: path → Markdown. Raises BrokenSite."""
    files = _files_of_checkout()
    written = {path.removeprefix("docs/") for path in files if _is_page(path)}
    nav = tomllib.loads((DOCS / "nav.toml").read_text())
    left = [p for p in sorted(written) if not _matches(p, nav["source_only"])] + [*generated]
    sections, named = [], {p for each in nav["sections"] for p in each["pages"] if "*" not in p}
    for each in nav["sections"]:
        paths: list[str] = []
        for pattern in each["pages"]:
            is_rest = "*" in pattern
            paths += [p for p in left if fnmatch(p, pattern) and not (is_rest and p in named)]
            if not is_rest and pattern not in left:
                raise BrokenSite(f"docs/nav.toml: there is no page {pattern}")
        left = [path for path in left if path not in paths]
        pages = [Page(path, generated.get(path) or (DOCS / path).read_text()) for path in paths]
        sections.append(Section(each["title"], pages))
    if left:
        raise BrokenSite(f"docs/nav.toml: name these pages in a section: {', '.join(left)}")
    return Site(sections, files)


def _url_of(path: str) -> str:
    return f"/docs/{path}".removesuffix(".md").removesuffix("/README")


def _is_page(path: str) -> bool:
    return path.startswith("docs/") and path.endswith(".md")


def _matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch(path, pattern) for pattern in patterns)


def _files_of_checkout() -> set[str]:
    """The files that pages may link; folders end with a slash."""
    found = {path.name for path in ROOT.iterdir()}
    for folder in ("docs", "src", "tests", "deploy", "bench", "scripts", "clients"):
        for path in (ROOT / folder).rglob("*"):
            found.add(path.relative_to(ROOT).as_posix() + ("/" if path.is_dir() else ""))
    return found
