"""Languages: the catalogues are complete, and each browser gets the language it asks for."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages import Catalog

from sealdesk.web.pages import i18n
from tests.i18n import catalogues, templates
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant

_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[sd%]")
# Faults of what no form sends: JSON, its fields, files of rules; and those that repeat a reason.
_FOR_PROGRAMS = re.compile(
    r"JSON|`|^There is no such (field|agent;)|^This (field cannot be|cannot be null)|^Expected "
    r"|is not a permission|rules? of (this name|the file)|^The desk has no |^%\(\w+\)s$"
)
_REMEDY = "run .venv/bin/python -m tests.i18n and translate what it names"


@pytest.fixture
def german() -> Iterator[None]:
    i18n.activate("de")
    yield
    i18n.activate("en")


def _ids(catalogue: Catalog) -> set[tuple[str | None, object]]:
    return {(each.context, each.id) for each in catalogues.messages(catalogue)}


def _strings(catalogue: Catalog) -> dict[tuple[str, str], tuple[str, ...]]:
    """Translations by message and its plural, "" without one."""
    return {
        (each.id, "") if isinstance(each.id, str) else (each.id[0], each.id[1]): (
            (each.string,) if isinstance(each.string, str) else tuple(each.string or ())
        )
        for each in catalogues.messages(catalogue)
    }


def _language(visitor: Visitor, path: str = "/", **headers: str) -> str:
    page = visitor.get(path, **headers)
    (found,) = [v for tag, name, v in page.attributes if (tag, name) == ("html", "lang")]
    return found


def test_the_template_holds_the_messages_of_the_source() -> None:
    assert _ids(catalogues.read_po(catalogues.POT)) == _ids(catalogues.extract()), _REMEDY


@pytest.mark.parametrize("language", catalogues.languages())
def test_every_message_is_translated(language: str) -> None:
    catalogue = catalogues.read_po(catalogues.po_path(language))
    assert _ids(catalogue) == _ids(catalogues.read_po(catalogues.POT)), _REMEDY
    assert catalogues.untranslated(catalogue) == [], _REMEDY


@pytest.mark.parametrize("language", catalogues.languages())
def test_the_compiled_catalogue_is_that_of_the_translations(language: str) -> None:
    source = catalogues.read_po(catalogues.po_path(language))
    compiled = catalogues.read_mo(catalogues.mo_path(language))
    assert _strings(compiled) == _strings(source), _REMEDY
    assert compiled.plural_expr == source.plural_expr


@pytest.mark.parametrize("language", catalogues.languages())
def test_a_translation_has_the_placeholders_and_tags_of_its_message(language: str) -> None:
    catalogue = catalogues.read_po(catalogues.po_path(language))
    assert list(catalogue.check()) == []
    for (singular, plural), strings in _strings(catalogue).items():
        expected = {*_PLACEHOLDER.findall(plural or singular)}
        assert {*_PLACEHOLDER.findall(strings[-1])} == expected, singular
        for text in strings if expected else ():
            assert {*_PLACEHOLDER.findall(text)} <= expected, singular
            assert "%" not in _PLACEHOLDER.sub("", text), "an unescaped % breaks the formatting"
        assert all(text.strip() == text for text in strings), singular
        # A space before it: another step follows, and no word is cut.
        assert not any(re.search(r"\w…$", text) for text in (singular, *strings)), singular
        tags = sorted(re.findall(r"<[^>]*>", singular))
        assert sorted(re.findall(r"<[^>]*>", strings[0])) == tags, singular


def test_every_message_of_a_field_that_a_form_can_show_is_translated() -> None:
    found = {text for path in catalogues.SOURCE.rglob("*.py") for text in _untranslated(path)}
    assert {text for text in found if not _FOR_PROGRAMS.search(text)} == set()


def _untranslated(path: Path) -> Iterator[str]:
    """The messages of faults that are texts, and no calls of gettext_noop."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    assigned = [each for each in nodes if isinstance(each, ast.Assign)]
    for call in nodes:
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Fault" and len(call.args) > 2:
            named = ast.unparse(call.args[2])
            values = [each.value for each in assigned if ast.unparse(each.targets[0]) == named]
            for each in (call.args[2], *values):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def test_templates_pass_only_constants_to_gettext() -> None:
    assert templates.variable_messages() == []


def test_english_needs_no_catalogue_and_unknown_messages_stay_unchanged() -> None:
    assert i18n.active_language() == "en"
    assert i18n.gettext("no such text") == "no such text"
    assert [i18n.ngettext("a ticket", "tickets", count) for count in (0, 1, 2)] == [
        "tickets",
        "a ticket",
        "tickets",
    ]
    assert i18n.number(12_345) == "12,345"


def test_german_has_its_own_plurals_and_thousands_separator(german: None) -> None:
    forms = ("%(count)s attempt", "%(count)s attempts")
    assert [i18n.ngettext(*forms, count) for count in (0, 1, 2)] == [
        "%(count)s Versuche",
        "%(count)s Versuch",
        "%(count)s Versuche",
    ]
    assert i18n.number(12_345) == "12.345"
    assert i18n.gettext("no such text") == "no such text"


def test_languages_are_those_with_a_catalogue() -> None:
    assert i18n.LANGUAGES == {"en": "English", "de": "Deutsch"}
    assert set(i18n.LANGUAGES) == {"en", *catalogues.languages()}


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr, de;q=0.5, en;q=0.9", "en"),
        ("fr;q=1,de;q=0.1", "de"),
        ("DE", "de"),
        ("en-US,de;q=0.9", "en"),
        ("", "en"),
        ("*", "en"),
        ("de;q=0", "en"),
        ("de;q=x,;;,=", "en"),
        ("de;q=nan", "en"),
        ("x" * 10_000 + ",de", "en"),
    ],
)
def test_a_page_has_the_language_that_the_browser_prefers(
    service: Service, accepted: str, language: str
) -> None:
    assert _language(Visitor(service), accept_language=accepted) == language


def test_a_chosen_language_is_kept(service: Service, tenant: Tenant) -> None:
    visitor = Visitor(service)
    form = visitor.get("/").form("/language")
    page = visitor.submit(form, language="de")
    assert "Anmelden" in page.text
    assert visitor.cookies == {"sealdesk-language": "de"}
    page = visitor.log_in(tenant.admin_email)
    assert "Abmelden" in page.text
    assert _language(visitor, "/nowhere", accept_language="en") == "de"
    visitor.submit(visitor.get("/account").form("/language"), language="en")
    assert _language(visitor, accept_language="de") == "en"


def test_choosing_a_language_leads_back_to_the_page(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    page = visitor.get("/account")
    visitor.submit(page.form("/language"), language="de")
    assert visitor.at == "/account"
    for foreign in ("https://evil.test/settings/audit", f"{visitor.service.url}//evil.test/"):
        answer = visitor.once(
            "POST",
            "/language",
            b"language=en",
            content_type="application/x-www-form-urlencoded",
            sec_fetch_site="same-origin",
            referer=foreign,
        )
        assert answer.headers["location"] == "/"


def test_colours_are_those_of_the_system_or_chosen(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    form = visitor.get("/account").form("/account/theme")
    for theme, scheme in (("dark", "dark"), ("light", "light"), ("", "light dark")):
        visitor.submit(form, theme=theme)
        html = visitor.once("GET", "/tickets").text
        assert ("data-theme" in html) == bool(theme)
        assert not theme or f'<html lang="en" data-theme="{theme}">' in html
        assert f'name="color-scheme" content="{scheme}"' in html
    assert visitor.submit(form, theme="x; Domain=evil.test").status == 404
    assert "data-theme" not in visitor.once("GET", "/", cookie="sealdesk-theme=evil").text


def test_only_existing_languages_can_be_chosen(service: Service) -> None:
    visitor = Visitor(service)
    form = visitor.get("/").form("/language")
    for wanted in ("fr", "", "../de", "de; Domain=evil.test"):
        assert visitor.submit(form, language=wanted).status == 404
    assert visitor.cookies == {}
    assert _language(visitor, cookie="sealdesk-language=xx") == "en"
    assert _language(visitor, cookie="sealdesk-language=de; sealdesk-language=de") == "en"


def test_concurrent_requests_have_their_own_language(service: Service) -> None:
    for _ in range(3):
        assert _language(Visitor(service), accept_language="de") == "de"
        assert "Log in" in Visitor(service).get("/").text
