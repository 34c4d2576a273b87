"""A catalogue alone makes a language: each message of a page comes from it."""

import re
from pathlib import Path
from typing import Any

import pytest

from sealdesk.web.pages import i18n
from tests.i18n import catalogues
from tests.support.pages import Visitor, logged_in
from tests.support.service import Tenant

_CODE = "xx"
_UNTOUCHED = re.compile(r"%\(\w+\)s|%[sd%]|<[^>]*>|https?://\S+")
_LETTERS = {
    ord(letter): ord(letter) + 0xFEE0 for letter in map(chr, range(65, 123)) if letter.isalpha()
}
# Events, variables, scopes and addresses; names are of what has the same in each language.
_CODES = re.compile(r"\S+[.:@_]\S+")
_NAMES = {"API", "CSV", "URL", "UTC", "Ctrl", "Sealdesk", "Acme", "admin", "sealdesk", "test"}
_NAMES |= {"Deutsch", "English", "Foreign"}
_PAGES = (
    *("/tickets", "/tickets/new", "/customers", "/notifications", "/team-now", "/reports"),
    *("/account", "/tickets/views", "/settings/people", "/settings/teams", "/settings/rules/new"),
    *("/settings/macros/new", "/settings/sla-policies/new", "/settings/business-hours"),
    *("/settings/webhooks/new", "/settings/api-keys/new", "/settings/email", "/settings/audit"),
)


def _foreign(text: str) -> str:
    """A message in wide letters, with its placeholders and tags."""
    kept = _UNTOUCHED.findall(text)
    parts = [part.translate(_LETTERS) for part in _UNTOUCHED.split(text)]
    return "".join(a + b for a, b in zip(parts, [*kept, ""], strict=True))


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A language of which there is a catalogue, and nothing else."""
    catalogue = catalogues.read_po(catalogues.POT)
    for each in catalogues.messages(catalogue):
        each.string = (
            _foreign(each.id) if isinstance(each.id, str) else tuple(map(_foreign, each.id))
        )
    place = tmp_path / _CODE / "LC_MESSAGES"
    place.mkdir(parents=True)
    catalogues.write_mo(catalogue, place / "sealdesk.mo")
    loaded: dict[str, Any] = dict(i18n.load(tmp_path))
    monkeypatch.setitem(i18n._CATALOGUES, _CODE, loaded[_CODE])
    monkeypatch.setitem(i18n.LANGUAGES, _CODE, "Foreign")


def test_each_message_of_a_page_comes_from_the_catalogue(foreign: None, tenant: Tenant) -> None:
    visitor: Visitor = logged_in(tenant)
    tenant.key().ticket(subject="1", description="2", customer={"email": "3@example.test"})
    for path in _PAGES:
        page = visitor.get(path, accept_language=_CODE)
        assert page.status == 200
        words = {*re.findall(r"[A-Za-z]{3,}", _CODES.sub("", page.text))}
        assert words <= _NAMES, path
