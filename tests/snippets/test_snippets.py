"""Each program of docs/snippets signs like the others, and its requests are accepted."""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk.crypto.signing import Signed, message, sign
from sealdesk.web.snippets import SNIPPETS, Snippet
from tests import vectors
from tests.snippets import copies
from tests.snippets.capture import CapturingServer, capturing
from tests.snippets.programs import run
from tests.support.client import Key
from tests.support.databases import on_sqlite

CUSTOMERS = "/api/v1/external/customers"
# Spaces, umlauts, plus and an encoded slash, which libraries like to change.
AWKWARD = "/api/v1/external/tickets?tag=a+b%2Fc%20%C3%BC%c3%bc%2B&status=open,pending&tag2="
UTF_8 = '{"name": "Jürgen Größe €"}'
# These change `%c3` or `'` before they send, and sign what they send.
_NORMALISING = ("requests", "httpx", "node")
_each = pytest.mark.parametrize("snippet", SNIPPETS, ids=[each.name for each in SNIPPETS])


@pytest.fixture(scope="module")
def live_key(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    """A key of a service on SQLite: the kind of database makes no difference to a signature."""
    with on_sqlite(template)(tmp_path_factory.mktemp("data")) as service:
        yield service.tenant().key()


@pytest.fixture(scope="module")
def server() -> Iterator[CapturingServer]:
    with capturing() as server:
        yield server


def _run(
    snippet: Snippet, key: Key, *arguments: str, secret: str = ""
) -> subprocess.CompletedProcess[str]:
    environment = {
        "SEALDESK_API_URL": key.service.url,
        "SEALDESK_API_KEY": key.api_key,
        "SEALDESK_API_SECRET": secret or key.api_secret,
    }
    return run(snippet, list(arguments), environment)


@_each
def test_the_service_accepts_its_requests(snippet: Snippet, live_key: Key) -> None:
    name = f"Jürgen 'Größe' \\ €, {snippet.name}"
    body = json.dumps({"email": f"{snippet.name}@example.test", "name": name}, ensure_ascii=False)
    created = _run(snippet, live_key, "POST", CUSTOMERS, body)
    assert (created.returncode, created.stderr) == (0, "")
    assert json.loads(created.stdout)["data"]["name"] == name
    default = _run(snippet, live_key)
    assert json.loads(default.stdout)["data"]["permissions"], default.stderr


@_each
@pytest.mark.prove
def test_a_refusal_shows_its_diagnosis(snippet: Snippet, live_key: Key) -> None:
    refused = _run(snippet, live_key, "GET", CUSTOMERS, secret=live_key.api_key)
    assert refused.returncode == 1
    said = refused.stdout + refused.stderr
    assert "HMAC key" in said
    assert "signed_with_api_key" in said


@_each
def test_it_signs_what_it_sends(snippet: Snippet, server: CapturingServer) -> None:
    _assert_signs(snippet, server, [("GET", AWKWARD, ""), ("PATCH", f"{CUSTOMERS}/7?a=%2F", UTF_8)])


@pytest.mark.prove
@_each
def test_it_signs_every_vector_as_the_service_does(
    snippet: Snippet, server: CapturingServer
) -> None:
    cases = [
        (each.method, each.target, each.body.decode())
        for each in vectors.VALID
        # fetch sends no GET with a body.
        if not (snippet.name == "node" and each.method == "GET" and each.body)
    ]
    _assert_signs(snippet, server, cases)


def _assert_signs(
    snippet: Snippet, server: CapturingServer, cases: list[tuple[str, str, str]]
) -> None:
    environment = {
        "SEALDESK_API_URL": server.url,
        "SEALDESK_API_KEY": vectors.API_KEY,
        "SEALDESK_API_SECRET": vectors.API_SECRET,
    }
    for method, target, body in cases:
        done = run(snippet, [method, target, body], environment)
        assert done.returncode == 0, done.stderr
        got = server.captured.pop()
        assert (got.method, got.body) == (method, body.encode())
        assert got.target == target or snippet.name in _NORMALISING
        timestamp = got.headers["x-api-timestamp"].encode()
        sent = Signed(timestamp, method.encode(), got.target.encode(), got.body)
        assert got.headers["x-api-signature"] == sign(vectors.API_SECRET, sent), target
        assert got.headers["x-api-key"] == vectors.API_KEY
        assert base64.b64decode(got.headers["x-api-signed-message"]) == message(sent)


def test_the_copies_are_those_that_the_command_writes() -> None:
    stale = [path.name for path, text in copies().items() if path.read_text() != text]
    assert stale == [], "run .venv/bin/python -m tests.snippets"
