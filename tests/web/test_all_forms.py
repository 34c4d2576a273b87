"""Every form of every page with fields that are missing, repeated, huge or another tenant's."""

import re
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest

from sealdesk.web.pages.forms import TOKEN
from tests.support.databases import SQLITE_FIRST
from tests.support.for_each import for_each
from tests.support.pages import Form, Page, Visitor, logged_in
from tests.support.service import Service, Tenant
from tests.support.two_tenants import CANARY, Ours, marked_tenant

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNWALKED = re.compile(
    r"/(?:docs|static|live|attachments)\b|/file\b|#|https?:|mailto:|\.json|^/log-out"
)
# After these a session, a user or a key of the test would be gone.
_ENDS = re.compile(r"log-out|password|two-factor|/(?:deactivate|role|revoke)$")
_GARBAGE = (
    *("-1", "1.5", "9" * 30, "1e9", "2026-02-30", "9999-12-31T23:59", "x" * 5000, " ", "\u200b"),
    *("<b>", "a@b", "javascript:alert(1)", "a,\n" * 300, "null", "[]", "\u0663", "\u202e"),
)  # fmt: skip
_OF_PROGRAMS = re.compile(r"Expected \w+,|cannot be null|`errors`|bytes of JSON|%\(\w+\)s")
_NO_FIELDS = {TOKEN, "current_password", "query", "next"}
_VERSIONS = {"seen", "etag"}
# They add something, or change one thing that they name.
_WITHOUT_VERSION = {
    *(
        "/reports/weekly",
        "/settings/people/invite",
        "/settings/teams/new",
        "/settings/webhooks/new",
    ),
    *("/tickets/new", "/tickets/{id}/links", "/tickets/{id}/participants", "/tickets/{id}/split"),
    *("/settings/email/{id}/application", "/settings/tags/rename", "/settings/api-keys/debug"),
    "/settings/webhooks/new",
}
_PLACES = 2  # pages of one kind that are looked at


@pytest.fixture
def ours(start: Callable[..., Service]) -> Ours:
    return marked_tenant(start())


def _forms(visitor: Visitor) -> Iterator[Form]:
    """One of each form on the pages that links lead to, with what it has at first."""
    seen: dict[str, int] = {}
    known: set[tuple[str, frozenset[str]]] = set()
    paths = ["/tickets", "/account", "/settings/webhooks", "/customers", "/tickets/views"]
    while paths:
        path = paths.pop()
        kind = _ID.sub("", path.partition("?")[0])
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] > _PLACES or _UNWALKED.search(path):
            continue
        page = visitor.get(path)
        paths += page.links
        for form in page.forms if page.status == 200 else ():
            names = frozenset(name for name, _ in form.fields)
            shape = _ID.sub("", form.action.partition("?")[0]), names
            if form.method == "post" and shape not in known and not _ENDS.search(form.action):
                known.add(shape)
                yield form


def _with(form: Form, value: str) -> Form:
    return form._replace(fields=[(name, value) for name, _ in form.fields if name != TOKEN])


def _variants(form: Form, foreign_ids: Iterator[str]) -> Iterator[Form]:
    yield _with(form, "")
    yield form._replace(fields=form.fields * 3)
    yield form._replace(fields=[])
    garbage = cycle(_GARBAGE)
    for name, _ in form.fields:
        others = [field for field in form.fields if field[0] not in (name, TOKEN)]
        yield form._replace(fields=others)
        for value in (next(garbage), next(garbage), next(foreign_ids)):
            yield form._replace(fields=[*others, (name, value)])


def _submit(visitor: Visitor, form: Form, token: str) -> Page:
    fields = [field for field in form.fields if field[0] != TOKEN]
    return visitor.post(form.action, [(TOKEN, token), *fields])


@pytest.mark.prove
def test_a_wrong_form_of_any_page_is_refused_in_sentences_for_people(
    ours: Ours,
) -> None:
    visitor = logged_in(ours.tenant)
    forms = list(_forms(visitor))
    assert len(forms) > 50
    token = visitor.get("/account").form("/account/name").value(TOKEN)
    for form in forms:
        for sent in _variants(form, cycle([ours.erased_id])):
            page = _submit(visitor, sent, token)
            assert page.status < 500 and page.status not in (401, 403), (sent, page.text)
            said = _OF_PROGRAMS.search(page.text) if page.status >= 400 else None
            assert said is None, (sent, said)


@pytest.mark.prove
def test_ids_of_another_tenant_in_a_form_are_like_those_of_nobody(ours: Ours) -> None:
    stranger = ours.tenant.service.tenant("Strangers")
    stranger.key().ticket()
    visitor, before = logged_in(stranger), ours.contents()
    forms = list(_forms(visitor))
    token = visitor.get("/account").form("/account/name").value(TOKEN)
    theirs = cycle([value for name, value in ours._asdict().items() if name.endswith("_id")])
    for form in forms:
        for name, value in zip(dict(form.fields), theirs, strict=False):
            others = [field for field in form.fields if field[0] != name]
            page = _submit(visitor, form._replace(fields=[*others, (name, value)]), token)
            assert page.status < 500 and CANARY not in page.answer.text, (form.action, name, value)
    assert ours.contents() == before


@pytest.mark.prove
def test_a_form_of_several_fields_says_which_version_it_changes(ours: Ours) -> None:
    """So that it replaces nothing that somebody else has saved since it was opened."""
    without = {
        _ID.sub("{id}", form.action.partition("?")[0])
        for form in _forms(logged_in(ours.tenant))
        if len(dict(form.fields).keys() - _NO_FIELDS) > 1
        and not _VERSIONS & dict(form.fields).keys()
    }
    assert without == _WITHOUT_VERSION


@SQLITE_FIRST
@for_each(
    ("path", "fields", "says"),
    [
        ("/settings/rules/new", {"hours": "soon", "position": "1st"}, "Write a whole number."),
        ("/settings/sla-policies/new", {"resolution_minutes": "1.5"}, "Write a whole number."),
        ("/settings/email/new", {"per_minute": "many"}, "Write a whole number."),
        ("/settings/email/ratings", {"delay_hours": ""}, "This must not be empty."),
        ("/tickets/bulk", {"priority": "top"}, "Priority: This must be one of low, medium,"),
    ],
)
def test_a_field_is_refused_in_the_terms_of_forms(
    tenant: Tenant, path: str, fields: dict[str, str], says: str
) -> None:
    visitor = logged_in(tenant)
    ticket, token = (
        tenant.key().ticket(),
        visitor.get("/account").form("/account/name").value(TOKEN),
    )
    page = visitor.post(path, [(TOKEN, token), ("ticket", ticket["id"]), *fields.items()])
    assert (page.status, says in page.text) == (422, True), page.text
    assert not _OF_PROGRAMS.search(page.text)
