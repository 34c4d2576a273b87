"""Languages: what is chosen, what a browser asks for, and that nothing is left untranslated."""

import re

import pytest

from sealdesk.web.pages import i18n, po_file
from sealdesk.web.pages.po_file import Entry
from tests.i18n import extracting
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant

_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[sd%]")
_MEND = "run .venv/bin/python -m tests.i18n and translate what it names"


def _language(visitor: Visitor, path: str = "/", **headers: str) -> str:
    page = visitor.get(path, **headers)
    (found,) = [v for tag, name, v in page.attributes if (tag, name) == ("html", "lang")]
    return found


def test_the_catalogue_holds_the_texts_of_the_source() -> None:
    assert extracting.POT.read_text() == extracting.pot(), _MEND


@pytest.mark.parametrize("language", extracting.OTHERS)
def test_nothing_is_left_untranslated(language: str) -> None:
    assert extracting.po_path(language).read_text() == extracting.po(language), _MEND
    entries = extracting.translated(language).values()
    assert [entry.one for entry in entries if not entry.is_whole] == [], _MEND
    assert entries


@pytest.mark.parametrize("language", extracting.OTHERS)
def test_a_translation_fills_in_what_its_text_fills_in(language: str) -> None:
    for entry in extracting.translated(language).values():
        wanted = sorted({*_PLACEHOLDER.findall(entry.many or entry.one)})
        for said in entry.said[-1:]:
            assert sorted({*_PLACEHOLDER.findall(said)}) == wanted, entry.one
        for said in entry.said if wanted else ():
            assert {*_PLACEHOLDER.findall(said)} <= {*wanted}, entry.one
            assert "%" not in _PLACEHOLDER.sub("", said), "what is filled in would break it"
        assert all(said.strip() == said for said in entry.said), entry.one
        tags = sorted(re.findall(r"<[^>]*>", entry.one))
        assert sorted(re.findall(r"<[^>]*>", entry.said[0])) == tags, entry.one


def test_only_constants_are_taken_for_html_of_ours() -> None:
    assert extracting.variable_messages() == []


def test_english_needs_no_catalogue_and_unknown_texts_stay() -> None:
    assert i18n.active_language() == "en"
    assert i18n.gettext("no such text") == "no such text"
    assert [i18n.ngettext("a ticket", "tickets", count) for count in (0, 1, 2)] == [
        "tickets",
        "a ticket",
        "tickets",
    ]


def test_a_catalogue_is_read_as_it_is_written() -> None:
    read = po_file.parse(
        'msgid ""\nmsgstr "Plural-Forms: nplurals=2;\\n"\n\n'
        "# A comment\n#: a.html\n"
        'msgid "say \\"it\\" "\n"twice"\nmsgstr "sag\'s\\n"\n" zweimal \u00fc"\n\n'
        'msgid "one"\nmsgid_plural "%(n)s"\nmsgstr[0] "eins"\nmsgstr[1] "%(n)s St\u00fcck"\n\n'
        'msgid "not yet"\nmsgstr ""\n\n'
        '#, fuzzy, python-format\n#| msgid "before"\nmsgid "guessed"\nmsgstr "geraten"\n\n'
        '#~ msgid "gone"\n#~ msgstr "weg"\n'
    )
    assert read.entries[0] == Entry('say "it" twice', None, ("sag's\n zweimal \u00fc",))
    assert [read.many("one", "%(n)s", count) for count in (1, 0)] == ["eins", "%(n)s St\u00fcck"]
    assert [read.one(each) for each in ("not yet", "unknown", "guessed", "gone")] == [
        "not yet",
        "unknown",
        "guessed",
        "gone",
    ]


@pytest.mark.parametrize(
    "text", ['msgctxt "a"\nmsgid "b"\nmsgstr "c"', 'msgid "a"\nmsgid "b"', 'msgid 1\nmsgstr "c"']
)
def test_a_catalogue_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="catalogue"):
        po_file.parse(text)


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
def test_a_browser_is_answered_in_what_it_prefers(
    service: Service, accepted: str, language: str
) -> None:
    assert _language(Visitor(service), accept_language=accepted) == language


def test_pages_are_german_for_who_chose_it_and_stay_so(service: Service, tenant: Tenant) -> None:
    visitor = Visitor(service)
    form = visitor.get("/").form("/language")
    page = visitor.submit(form, language="de")
    assert "Anmelden" in page.text
    assert visitor.cookies == {"sealdesk-language": "de"}
    page = visitor.log_in(tenant.admin_email)
    assert "Abmelden" in page.text
    assert _language(visitor, "/nowhere", accept_language="en") == "de"
    visitor.submit(visitor.get("/reset").form("/language"), language="en")
    assert (visitor.at, _language(visitor, "/reset", accept_language="de")) == ("/reset", "en")


def test_a_choice_leads_back_to_the_page_and_nowhere_else(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    for at in ("/settings/people/invite", "/settings/audit?action=user.created", "/account"):
        page = visitor.get(at)
        visitor.submit(page.form("/language"), language="de")
        assert visitor.at == at
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


def test_only_languages_that_there_are_can_be_chosen(service: Service) -> None:
    visitor = Visitor(service)
    form = visitor.get("/").form("/language")
    for wanted in ("fr", "", "../de", "de; Domain=evil.test"):
        assert visitor.submit(form, language=wanted).status == 404
    assert visitor.cookies == {}
    assert _language(visitor, cookie="sealdesk-language=xx") == "en"
    assert _language(visitor, cookie="sealdesk-language=de; sealdesk-language=de") == "en"


def test_two_readers_at_once_each_read_their_own_language(service: Service) -> None:
    for _ in range(3):
        assert _language(Visitor(service), accept_language="de") == "de"
        assert "Log in" in Visitor(service).get("/").text
