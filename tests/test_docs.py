"""The documentation matches the code: routes, codes, permissions, events and snippets."""

import re
from pathlib import Path
from typing import get_args

import pytest

from sealdesk.api_keys.permissions import PERMISSIONS
from sealdesk.event_log.events import EventType
from sealdesk.identity.types import ROLES
from sealdesk.routes import ROUTES
from sealdesk.web import snippets
from tests.support.client import Person
from tests.support.service import Service

_ROOT = Path(__file__).parents[1]
_PAGES = [file for file in (_ROOT / "docs").rglob("*.md") if file.parent.name != "spec"]
_GUIDE = "\n".join(file.read_text() for file in _PAGES)
_SIGNING = (_ROOT / "docs" / "api" / "signing.md").read_text()


@pytest.fixture
def written(service: Service) -> str:
    """The guide and the reference together."""
    anyone = Person(service, "")
    return _GUIDE + anyone.get("/llms-full.txt").text


def test_every_route_is_documented(written: str) -> None:
    paths = [row.path for row in ROUTES if "{page}" not in row.path]
    assert [path for path in paths if path not in written] == []


def test_every_permission_role_and_event_is_in_the_guide() -> None:
    names = (*PERMISSIONS, *ROLES, *get_args(EventType))
    assert [name for name in names if f"`{name}`" not in _GUIDE] == []


def test_the_guide_names_no_event_that_does_not_exist() -> None:
    named = set(
        re.findall(r"`((?:ticket|reply|customer|api_key|webhook|mailbox)\.[a-z_]+)`", _GUIDE)
    )
    assert named == set(get_args(EventType))


def test_programs_of_the_guide_of_generated_clients_create_a_ticket_each_time() -> None:
    guide = (_ROOT / "docs" / "api" / "openapi.md").read_text()
    keys = re.findall(r"idempotency[-_]key\"?[:=] ?(.*)", guide, re.IGNORECASE)
    assert ["uuid" in key.lower() for key in keys] == [True, True]


def test_the_signing_guide_shows_the_snippet_that_is_tested() -> None:
    assert snippets.curl("GET", "/api/v1/external/tickets?status=open&per_page=5") in _SIGNING


def test_links_of_the_guide_have_targets() -> None:
    for file in (_ROOT / "docs").rglob("*.md"):
        for address in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text()):
            assert (file.parent / address).exists(), f"{file.name}: {address}"
