"""The documentation site: how its files are served, and that its pages lead to each other."""

import gzip
import subprocess
import sys
from functools import cache
from posixpath import dirname, join, normpath
from urllib.parse import urldefrag

import pytest

from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.routes import PROBLEM_TYPES, ROUTES
from sealdesk.web import documentation
from sealdesk.web.documentation import File, read_archive
from tests.support.client import Person, send
from tests.support.page_security import PageAddresses
from tests.support.service import Service

FILES = read_archive()
_OPENAPI = [row.path for row in ROUTES if row.path.startswith("/openapi")]
_PAGES = [path for path, file in FILES.items() if file.content_type.startswith("text/html")]


@pytest.fixture
def anyone(service: Service) -> Person:
    return Person(service, "")


@pytest.fixture(scope="module")
def pages() -> dict[str, PageAddresses]:
    """Path → the ids and addresses of a page."""
    return {path: PageAddresses(_text(FILES[path])) for path in _PAGES}


def _text(file: File) -> str:
    return gzip.decompress(file.content).decode()


def test_every_file_is_served_with_its_type_whole_and_compressed(service: Service) -> None:
    for path, file in FILES.items():
        plain = send(service, "GET", path, b"", {"accept-encoding": "identity"})
        packed = send(service, "GET", path, b"", {"accept-encoding": "gzip"})
        assert plain.status_code == packed.status_code == 200, path
        assert plain.headers["content-type"] == file.content_type
        assert plain.headers["x-content-type-options"] == "nosniff"
        assert plain.content == packed.content, path
        assert ("content-encoding" in packed.headers) == file.is_gzip
        assert "content-encoding" not in plain.headers


def test_unchanged_files_are_304_and_those_with_their_version_stay_cached(anyone: Person) -> None:
    for path in ("/docs", "/docs/api/signing.md", "/docs/search.json", "/openapi.json"):
        first = anyone.get(path)
        again = anyone.get(path, if_none_match=first.headers["etag"])
        assert (again.status_code, again.content) == (304, b"")
        assert anyone.get(path, if_none_match='"another"').content == first.content
        assert first.headers["cache-control"] == "no-cache"
    style = f"/docs/assets/site.css?{FILES['/docs/assets/site.css'].version}"
    assert style.removeprefix("/docs/") in anyone.get("/docs/start").text
    assert "immutable" in anyone.get(style).headers["cache-control"]


@pytest.mark.parametrize("path", ["/docs", "/docs/errors", "/docs/reference/tickets"])
def test_pages_only_load_files_of_this_service(anyone: Person, path: str) -> None:
    policy = anyone.get(path).headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy


def test_pages_have_unique_ids_and_nothing_inline(pages: dict[str, PageAddresses]) -> None:
    for path, page in pages.items():
        assert sorted(page.ids) == sorted(set(page.ids)), path
        assert page.inline == [] and page.unnamed == [], path


def test_all_links_lead_to_pages_and_sections(pages: dict[str, PageAddresses]) -> None:
    for path, page in pages.items():
        for address in page.addresses:
            if address.startswith("https://"):
                continue
            target, section = urldefrag(address.partition("?")[0])
            found = normpath(join(dirname(path), target)) if target else path
            assert found in FILES or found in _OPENAPI, f"{path}: {address}"
            assert not section or section in pages[found].ids, f"{path}: {address}"


def test_links_are_relative_so_that_they_work_below_a_path_prefix(
    pages: dict[str, PageAddresses],
) -> None:
    absolute = {a for page in pages.values() for a in page.addresses if a.startswith("/")}
    assert absolute == set()


def test_every_page_has_a_markdown_twin_and_is_listed_for_programs(anyone: Person) -> None:
    listed, whole = anyone.get("/llms.txt").text, anyone.get("/llms-full.txt").text
    assert listed.startswith("# Sealdesk\n\n> ")
    for path in _PAGES:
        twin = anyone.get(f"{path}.md").text
        assert twin.startswith("# ") and "{#" not in twin
        assert f"]({path}.md): " in listed
        assert twin.strip() in whole


@pytest.mark.parametrize(
    "target",
    [
        "/docs/",
        "/docs/assets/",
        "/docs/assets/../nothing",
        "/docs/assets/..%2fstart",
        "/docs/assets/%2e%2e/start",
        "/docs/start/",
        "/docs//start",
        "/docs/start%00.md",
        "/docs/documentation.msgpack",
        "/docs/../documentation.py",
    ],
)
def test_only_the_files_of_the_site_are_served(service: Service, target: str) -> None:
    response = send(service, "GET", target, b"", {})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_without_a_build_the_answer_says_how_to_make_one(
    anyone: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documentation, "_files", cache(dict))
    assert "make docs" in anyone.get("/docs").json()["detail"]


def test_the_reference_shows_every_operation(pages: dict[str, PageAddresses]) -> None:
    ids = {each for path, page in pages.items() if "/reference/" in path for each in page.ids}
    for row in ROUTES:
        if row.operation.tag != "Documentation":
            assert row.operation.name in ids, row.path


def test_the_errors_page_has_a_section_for_every_code(pages: dict[str, PageAddresses]) -> None:
    assert {each.code for each in PROBLEM_TYPES} <= set(pages["/docs/errors"].ids)


def test_the_errors_page_has_a_section_for_every_diagnosis(pages: dict[str, PageAddresses]) -> None:
    assert MISTAKES.keys() <= set(pages["/docs/errors"].ids)


def test_the_type_of_a_problem_links_to_its_section(
    anyone: Person, pages: dict[str, PageAddresses]
) -> None:
    path, _, section = anyone.get("/api/v1/nothing").json()["type"].partition("#")
    assert section in pages[path].ids


def test_starting_loads_neither_the_template_engine_nor_the_site() -> None:
    program = (
        "import sys, sealdesk.server.app\n"
        "from sealdesk.web import documentation\n"
        "print('jinja2' in sys.modules, documentation._files.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, text=True, timeout=120
    )
    assert done.stdout == "False 0\n", done.stderr
