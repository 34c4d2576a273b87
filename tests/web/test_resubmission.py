"""Forms that could not be accepted are kept, and sent again only by their user."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

import sealdesk
from sealdesk import ids
from sealdesk.errors import ServiceUnavailable
from sealdesk.identity.auth import session_guard
from sealdesk.web.pages import resubmission
from tests.support.databases import SQLITE_ONLY
from tests.support.page_security import (
    FOREIGN_ORIGINS,
    FOREIGN_PLACES,
    FORMS,
    assert_page_is_secure,
    is_file,
    path_of,
)
from tests.support.pages import FORM, PASSWORD, Form, Page, Visitor, logged_in
from tests.support.service import Service, Tenant

TYPED = 'Fünf <b>"Stück"</b>\n&amp; mehr'


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"/tickets/{tenant.key().ticket()['id']}"


def _typed(visitor: Visitor, at: str) -> Form:
    """The values of a reply form."""
    form = visitor.get(at).form(f"{at}/reply")
    typed = {"body": TYPED, "is_internal": "yes"}
    return form._replace(fields=[(name, typed.get(name, value)) for name, value in form.fields])


def _replies(service: Service, at: str) -> list[tuple[str, str]]:
    sql = "SELECT body, author_name FROM replies WHERE ticket_id = :id ORDER BY id LIMIT 9"
    return [(row[0], row[1]) for row in service.rows(sql, id=at.rpartition("/")[2])]


def test_a_form_sent_with_an_expired_session_is_kept_for_the_next_log_in(
    visitor: Visitor, tenant: Tenant, at: str
) -> None:
    form = _typed(visitor, at)
    visitor.cookies.clear()
    asked = visitor.submit(form, status="pending")
    assert (asked.status, visitor.at) == (401, f"{at}/reply")
    assert "Your input is kept" in asked.text
    assert form.value("form_token") not in asked.answer.text
    assert_page_is_secure(asked)
    wrong = visitor.submit(asked.form("/log-in"), email=tenant.admin_email, password="wrong")
    assert wrong.status == 401
    waiting = visitor.submit(wrong.form("/log-in"), password=PASSWORD)
    assert (waiting.status, "This was not sent yet" in waiting.text) == (200, True)
    assert all(part in waiting.text for part in (" ".join(TYPED.split()), "Internal note ✓"))
    assert (
        "Status Pending" in waiting.text and "Sent to The conversation of a ticket" in waiting.text
    )
    assert at in waiting.links
    assert_page_is_secure(waiting)
    assert _replies(tenant.service, at) == []
    sent = visitor.submit(waiting.form(f"{at}/reply"))
    assert (sent.status, visitor.at.partition("?")[0]) == (200, at)
    assert [body for body, _ in _replies(tenant.service, at)] == [TYPED]


def test_another_user_sees_the_kept_form_and_sends_it_as_themselves(
    visitor: Visitor, tenant: Tenant, at: str
) -> None:
    tenant.user("agent", email := f"bo.of.{tenant.id}@example.test", "Bo")
    form = _typed(visitor, at)
    visitor.submit(visitor.get("/").form("/log-out"))
    asked = visitor.submit(form).form("/log-in")
    waiting = visitor.submit(asked, email=email, password=PASSWORD)
    assert "Sent by Bo" in waiting.text
    assert _replies(tenant.service, at) == []
    visitor.submit(waiting.form(f"{at}/reply"))
    assert _replies(tenant.service, at) == [(TYPED, "Bo")]


@SQLITE_ONLY
def test_a_form_of_another_site_is_not_kept(service: Service) -> None:
    for told in FOREIGN_ORIGINS:
        answer = Visitor(service).once(
            "POST", "/account/name", b"form_token=a&name=evil", content_type=FORM, **told
        )
        assert (answer.status_code, "evil" in answer.text) == (403, False), told


@SQLITE_ONLY
def test_a_kept_form_is_sent_only_to_pages_of_this_service(
    service: Service, tenant: Tenant
) -> None:
    for place in FOREIGN_PLACES:
        fields = {"email": tenant.admin_email, "password": PASSWORD, "kept_to": place}
        body = urlencode({**fields, "kept.body": "evil"}).encode()
        answer = Visitor(service).once("POST", "/log-in", body, content_type=FORM)
        assert (answer.status_code, "evil" in answer.text) == (303, False), place


@SQLITE_ONLY
def test_every_form_is_kept_without_its_passwords(service: Service) -> None:
    sent = {"form_token": "none", "name": "typed", "password": "p" * 12, "new": "n" * 12}
    for path in (path_of(route) for route in FORMS if route.guard.needs and not is_file(route)):
        page = Visitor(service).post(path, list(sent.items()))
        carried = [field for field in page.form("/log-in").fields if field[0].startswith("kept")]
        if path == "/log-out":
            assert (page.status, carried) == (200, [])
        else:
            assert (page.status, carried) == (401, [("kept_to", path), ("kept.name", "typed")])


@SQLITE_ONLY
@pytest.mark.parametrize(
    "sent", ["form_token=none", "form_token=none&current=c&new=n", "name=typed", "a=%ff"]
)
def test_a_form_without_input_leads_back_to_its_page(service: Service, sent: str) -> None:
    visitor = Visitor(service)
    visitor.at = "/account"
    answer = visitor.once("POST", "/account/password", sent.encode(), content_type=FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?next=/account")


def test_all_password_fields_are_known() -> None:
    # `secret` of the mailboxes' form makes such fields by their names.
    field = re.compile(r'(?:field\("(\w+)"[^\n]*?(?:kind=)?"password"|secret\("(\w+)"[^\n]*)\)')
    templates = Path(sealdesk.__file__).parent.rglob("*.html")
    texts = [path.read_text() for path in templates]
    found = {name for text in texts for names in field.findall(text) for name in names if name}
    assert found == resubmission.PASSWORDS
    assert not any('type="password"' in text for text in texts)


def test_a_form_of_an_earlier_log_in_is_kept(visitor: Visitor, tenant: Tenant, at: str) -> None:
    form = _typed(visitor, at)
    visitor.cookies.clear()
    visitor.log_in(tenant.admin_email)
    late = visitor.submit(form)
    assert (late.status, "out of date" in late.text) == (403, True)
    assert_page_is_secure(late)
    assert _replies(tenant.service, at) == []
    visitor.submit(late.form(f"{at}/reply"))
    assert [body for body, _ in _replies(tenant.service, at)] == [TYPED]


def test_only_changed_fields_are_shown(visitor: Visitor, tenant: Tenant, at: str) -> None:
    form = visitor.get(at).form(at)
    visitor.cookies.clear()
    asked = visitor.submit(form, priority="urgent").form("/log-in")
    waiting = visitor.submit(asked, email=tenant.admin_email, password=PASSWORD)
    assert "Priority Urgent Sent to" in waiting.text and "Status" not in waiting.text


@SQLITE_ONLY
def test_a_form_too_large_for_the_log_in_form_is_not_kept(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_guard, "_FORMS_PER_MINUTE", 100_000)  # forms of all tests count
    for size, status in ((1_030_000, 401), (1_045_000, 303), (1_048_577, 413)):
        body = b"form_token=a&body=".ljust(size, b"n")
        path = f"/tickets/{ids.mint(0)}/reply"
        answer = Visitor(service).once("POST", path, body, content_type=FORM)
        assert answer.status_code == status, size
        if status == 401:
            asked = Page(answer).form("/log-in")
            fields = [*asked.fields, ("email", "e" * 320), ("password", "p" * 1000)]
            again = Visitor(service).post("/log-in", fields)
            assert len(again.form("/log-in").value("kept.body")) > 1_000_000


def test_a_log_in_without_storage_keeps_the_form(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    visitor, at = logged_in(tenant), f"/tickets/{tenant.key().ticket()['id']}"
    form = _typed(visitor, at)
    visitor.cookies.clear()
    asked = visitor.submit(form).form("/log-in")

    async def away(*_: object) -> None:
        raise ServiceUnavailable

    monkeypatch.setattr(own_service.state.database, "write", away)
    page = visitor.submit(asked, email=tenant.admin_email, password=PASSWORD)
    assert (page.status, page.answer.headers["retry-after"]) == (503, "1")
    monkeypatch.undo()
    waiting = visitor.submit(page.form("/log-in"), password=PASSWORD)
    visitor.submit(waiting.form(f"{at}/reply"))
    assert [body for body, _ in _replies(own_service, at)] == [TYPED]
