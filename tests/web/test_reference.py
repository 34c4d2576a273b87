"""The pages at /docs: their content, their snippets, and how they are served."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sealdesk import web
from sealdesk.routes import PAGES, PROBLEM_TYPES, ROUTES
from sealdesk.tickets.merging.examples import MERGE, SPLIT
from sealdesk.web.openapi import html as reference_page
from tests.interop import NODE
from tests.support.client import Key, Person, send
from tests.support.page_security import PageAddresses
from tests.support.service import Service

_ASSETS = [row.path for row in ROUTES if row.path.startswith("/docs/assets/")]
_PAGES = ["/docs", "/docs/errors"]
_SIGNED = [row.operation.name for row in ROUTES if row.guard.scheme == "hmac"]
_AN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}(?=['/])")


@pytest.fixture
def anyone(service: Service) -> Person:
    return Person(service, "")


def _snippets(page: str, section: str) -> list[str]:
    """The code blocks of a section as plain text."""
    start = page.index(f'id="{section}"')
    blocks = re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code></pre>", page[start:], re.DOTALL)
    return [html.unescape(re.sub(r"</?span[^>]*>", "", block)) for block in blocks]


def _run(program: list[str], text: str, key: Key) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "SEALDESK_API_URL": key.service.url,
        "SEALDESK_API_KEY": key.api_key,
        "SEALDESK_API_SECRET": key.api_secret,
    }
    return _completed(program, input=text, env=environment)


def _completed(program: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(program, capture_output=True, check=False, text=True, timeout=30, **how)


@pytest.mark.parametrize(
    ("place", "program"),
    [
        (0, ["sh"]),
        (1, [sys.executable, "-"]),
        (2, [str(NODE), "--input-type=module"]),
    ],
    ids=["curl", "python", "node"],
)
def test_signing_snippets_send_a_valid_request(
    anyone: Person, key: Key, place: int, program: list[str]
) -> None:
    ticket = key.ticket(subject="Found by the snippet")
    snippet = _snippets(anyone.get("/docs").text, "signing")[place]
    done = _run(program, snippet, key)
    assert ticket["id"] in done.stdout, done.stderr


@pytest.mark.parametrize("name", _SIGNED)
def test_the_snippet_of_every_signed_operation_works_unchanged(
    anyone: Person, key: Key, name: str
) -> None:
    snippet = _snippets(anyone.get("/docs").text, name)[0]
    pasted = _AN_ID.sub(_own_id(key, name, snippet), snippet).replace("curl -sS", "curl -sS -f")
    for example, own in _own_examples(key, name, pasted).items():
        pasted = pasted.replace(example, own)
    done = _run(["sh"], pasted, key)
    assert done.stdout.startswith("text" if name == "download" else '{"data":'), done.stderr


def _own_id(key: Key, name: str, snippet: str) -> str:
    """The id of an object of the kind that the address of the snippet names."""
    if "/customers/" in snippet:
        return str(key.customer("snippet@example.test")["id"])
    if "/attachments/" in snippet:
        return str(key.attachment(content=b"text")["id"])
    ticket = key.ticket()
    if name == "undo_merge":
        key.post(f"/api/v1/external/tickets/{ticket['id']}/merge", {"into": key.ticket()["id"]})
    return str(ticket["id"])


def _own_examples(key: Key, name: str, snippet: str) -> dict[str, str]:
    """Example id in the body → an id for which the request succeeds."""
    if name == "merge_ticket":
        return {MERGE["into"]: key.ticket()["id"]}
    if name != "split_ticket":
        return {}
    path = snippet.partition("TARGET='")[2].partition("/split")[0]
    reply = key.post(f"{path}/replies", {"body": "A second question"}).json()["data"]
    return {SPLIT["reply_id"]: reply["id"]}


def test_the_reference_shows_every_operation(anyone: Person) -> None:
    page = anyone.get("/docs").text
    for row in ROUTES:
        if not row.path.startswith(("/docs", "/openapi.json")):
            assert f'id="{row.operation.name}"' in page, row.path


def test_the_errors_page_has_a_section_for_every_code(anyone: Person) -> None:
    page = PageAddresses(anyone.get("/docs/errors").text)
    assert page.ids and {each.code for each in PROBLEM_TYPES} <= set(page.ids)


def test_the_type_of_a_problem_links_to_its_section(anyone: Person) -> None:
    problem = anyone.get("/api/v1/nothing").json()
    path, _, section = problem["type"].partition("#")
    assert section in PageAddresses(anyone.get(path).text).ids


@pytest.mark.parametrize("path", _PAGES)
def test_links_of_the_pages_lead_to_existing_pages_and_sections(anyone: Person, path: str) -> None:
    pages = {page: PageAddresses(anyone.get(page).text) for page in _PAGES}
    for address in pages[path].addresses:
        target, _, section = address.partition("#")
        assert not target or target.startswith("/"), address
        if section:
            assert section in pages[target or path].ids, address
        else:
            assert anyone.get(target).status_code == 200, address


@pytest.mark.parametrize("path", _PAGES)
def test_ids_of_a_page_are_unique(anyone: Person, path: str) -> None:
    ids = PageAddresses(anyone.get(path).text).ids
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("path", _PAGES)
def test_pages_only_load_files_of_this_service(anyone: Person, path: str) -> None:
    response = anyone.get(path)
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "unsafe" not in policy
    page = PageAddresses(response.text)
    assert page.inline == []
    assert page.unnamed == []


@pytest.mark.parametrize("path", ["/openapi.json", *_PAGES, *_ASSETS])
def test_an_unchanged_document_is_304(anyone: Person, path: str) -> None:
    first = anyone.get(path)
    again = anyone.get(path, if_none_match=first.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")
    assert anyone.get(path, if_none_match='"another"').content == first.content


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("reference.css", "text/css; charset=utf-8"),
        ("reference.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_assets_have_their_content_type(anyone: Person, name: str, content_type: str) -> None:
    response = anyone.get(f"/docs/assets/{name}")
    assert response.headers["content-type"] == content_type
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "target",
    [
        "/docs/assets/",
        "/docs/assets/../reference.py",
        "/docs/assets/..%2freference.py",
        "/docs/assets/%2e%2e/reference.py",
        "/docs/assets/reference.css/",
        "/docs/assets//reference.css",
        "/docs/assets/reference.css%00.js",
    ],
)
def test_only_listed_files_are_served(service: Service, target: str) -> None:
    response = send(service, "GET", target, b"", {})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_all_static_files_are_listed() -> None:
    static = Path(web.__file__).parent / "static"
    served = (row.path for row in (*ROUTES, *PAGES) if "/assets/" in row.path)
    listed = {path.rpartition("/")[2] for path in served}
    joined = {"desk.css", "desk.js", "inter.woff2"}
    assert listed == joined | {file.name for file in static.iterdir() if file.is_file()}


def test_starting_does_not_load_the_template_engine() -> None:
    program = "import sys, sealdesk.server.app; print('jinja2' in sys.modules)"
    done = _completed([sys.executable, "-c", program])
    assert done.stdout == "False\n", done.stderr


def test_bodies_with_quotes_are_quoted_for_the_shell() -> None:
    value = {"text": 'it\'s $HOME `id` \\ "quoted"'}
    done = _completed(["sh", "-c", f"printf %s {reference_page.shell(value)}"])
    assert json.loads(done.stdout) == value
