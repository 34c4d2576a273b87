"""The pages of Settings → Webhooks, without scripts."""

import re
from typing import Any

import pytest

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.webhooks import redelivery
from tests.support.client import Person
from tests.support.databases import SQLITE_FIRST
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.receiver import Receiver
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import log_delivery, refused

HOME = "/settings/webhooks"
API = "/api/v1/webhooks"
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{40,}=*")
# Scripts, ends of attributes and elements, templates, turned text, and what is no character.


@pytest.fixture
def admin(tenant: Tenant, visitor: Visitor) -> Person:
    """The same session as an API client."""
    return Person(tenant.service, visitor.cookies["sealdesk"])


def _add(visitor: Visitor, receiver: Receiver, **fields: Any) -> str:
    """The path of a new endpoint."""
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    page = visitor.submit(form, **{"url": receiver.url, **fields})
    assert page.status == 201, page.text
    return next(link for link in page.links if re.fullmatch(f"{HOME}/[0-9a-f-]{{36}}", link))


def _set(service: Service, at: str, change: str, **values: object) -> None:
    """Change the row of an endpoint in the database."""
    sql = f"UPDATE endpoints SET {change} WHERE id = :id"
    params = {"id": at.rpartition("/")[2], **values}

    async def work(tx: Tx) -> None:
        await tx.execute(sql, params)

    service.write(work)


def _copy(service: Service, at: str, sql: str, count: int) -> None:
    """Run a statement that copies a row of an endpoint this many times, with new ids."""
    now_us = service.clock.now_us()  # one with an older time is pruned at any moment
    new = [ids.mint(now_us) for _ in range(count)]

    async def work(tx: Tx) -> None:
        await tx.execute_many(sql, [{"id": each, "of": at.rpartition("/")[2]} for each in new])

    service.write(work)


def _log(visitor: Visitor, at: str) -> list[str]:
    """The links to deliveries on the page of an endpoint."""
    return [link for link in visitor.get(at).links if "/deliveries/" in link]


def _test(visitor: Visitor, at: str) -> Page:
    return visitor.submit(visitor.get(at).form(f"{at}/test"))


def test_page_without_endpoints_explains_webhooks(visitor: Visitor) -> None:
    page = visitor.get(HOME)
    assert "No endpoints yet" in page.text
    assert f"{HOME}/new" in page.links


def test_a_new_endpoint_shows_its_secret_once(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    page = visitor.submit(form, url=receiver.url, description="The warehouse")
    assert page.status == 201
    assert_page_is_secure(page)
    (secret,) = _SECRET.findall(page.text)
    (webhook,) = admin.get(API).json()["data"]
    assert (webhook["url"], webhook["description"]) == (receiver.url, "The warehouse")
    assert webhook["events"] == ["*"]
    at = f"{HOME}/{webhook['id']}"
    for path in (HOME, at, f"{at}/edit", f"{at}/rotate", f"{at}/delete", f"{at}/replay"):
        page = visitor.get(path)
        assert page.status == 200
        assert_page_is_secure(page)
        assert secret not in page.answer.text and "whsec_" not in page.answer.text


def test_an_endpoint_without_deliveries_says_what_to_do(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    new = {"url": receiver.url, "events": ["ticket.created"]}
    at = f"{HOME}/{admin.post(API, new).json()['data']['id']}"
    assert "No deliveries. Send a test, or wait for the first event." in visitor.get(at).text
    page = visitor.get(f"{at}?status=failed")
    assert "No matching deliveries." in page.text
    assert page.links.count(at) == 2  # the tab of all deliveries, and the next step


def test_only_selected_event_types_are_sent(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    page = visitor.get(f"{HOME}/new")
    fields = [f for f in page.form(f"{HOME}/new").fields if f[0] not in ("everything", "events")]
    chosen = [("events", "reply.created"), ("events", "ticket.created"), ("url", receiver.url)]
    visitor.post(f"{HOME}/new", [f for f in fields if f[0] != "url"] + chosen)
    (webhook,) = admin.get(API).json()["data"]
    assert webhook["events"] == ["ticket.created", "reply.created"]
    edit = visitor.get(f"{HOME}/{webhook['id']}/edit").form(f"{HOME}/{webhook['id']}/edit")
    ticked = [value for name, value in edit.fields if name == "events"]
    assert ticked == webhook["events"]
    assert "everything" not in dict(edit.fields)


_WRONG: tuple[tuple[str, Any, str], ...] = (
    ("url", "https://no-such-name.invalid/", "has no address"),
    ("url", "https://169.254.169.254/", ""),
    ("url", "ftp://example.test/", ""),
    ("url", "javascript:alert(1)", ""),
    ("url", "", "must not be empty"),
    ("url", "https://a.test/" + "a" * 2048, "at most 2048"),
    ("description", "d" * 256, "at most 255"),
    ("events", "ticket.exploded", "is not an event type"),
    ("events", [], "at least one"),
)


def test_invalid_form_keeps_its_values_and_shows_faults_beside_fields(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    for field, value, words in _WRONG:
        typed: dict[str, Any] = {"url": receiver.url, "description": "Kept"}
        typed["events"] = ["reply.created"]
        typed[field] = value
        page = visitor.submit(form, everything=[], **typed)
        assert page.status == 422
        assert ("p", "id", f"{field}-fault") in page.attributes, value
        assert words in page.text
        again = dict(page.form(f"{HOME}/new").fields)
        assert (again["url"], again["description"]) == (typed["url"], typed["description"])
        assert (again.get("events") == "reply.created") == (field != "events")
    assert admin.get(API).json()["data"] == []


def test_fifty_first_endpoint_is_refused_with_a_message(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    at = _add(visitor, receiver)
    copy = (
        "INSERT INTO endpoints (tenant_id, id, url, events, is_active, secret_version, wakes,"
        " created_at) SELECT tenant_id, :id, url, events, is_active, 1, 0, created_at"
        " FROM endpoints WHERE id = :of"
    )
    _copy(visitor.service, at, copy, 49)
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    page = visitor.submit(form, url=receiver.url)
    assert page.status == 409
    assert "There are 50 webhook endpoints" in page.text
    assert page.form(f"{HOME}/new").value("url") == receiver.url
    assert f"{HOME}/new" not in visitor.get(HOME).links


def test_edit_changes_only_its_fields(visitor: Visitor, admin: Person, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    form = visitor.get(f"{at}/edit").form(f"{at}/edit")
    bad = visitor.submit(form, url="https://no-such-name.invalid/", description="New words")
    assert bad.status == 422
    assert bad.form(f"{at}/edit").value("description") == "New words"
    visitor.submit(form, description="New words", everything=[], events="customer.created")
    assert visitor.at == at
    (webhook,) = admin.get(API).json()["data"]
    assert (webhook["description"], webhook["events"]) == ("New words", ["customer.created"])
    assert webhook["url"] == receiver.url
    stale = visitor.submit(form, description="Mine")
    assert stale.status == 412 and stale.form(f"{at}/edit").value("description") == "Mine"
    assert admin.get(API).json()["data"] == [webhook]


def test_pausing_and_activating_are_one_click_each(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    at = _add(visitor, receiver)
    page = visitor.submit(visitor.get(at).form(f"{at}/pause"))
    assert "Paused" in page.text
    assert admin.get(API).json()["data"][0]["is_active"] is False
    page = visitor.submit(page.form(f"{at}/activate"))
    assert "Active" in page.text
    assert admin.get(API).json()["data"][0]["is_active"] is True


def test_rotation_is_confirmed_and_shows_the_secret_once(
    visitor: Visitor, receiver: Receiver
) -> None:
    at = _add(visitor, receiver)
    before = visitor.get(f"{at}/rotate")
    assert "two signatures" in before.text and "24 hours" in before.text
    after = visitor.submit(before.form(f"{at}/rotate"))
    assert_page_is_secure(after)
    assert len(_SECRET.findall(after.text)) == 1
    assert "two signatures" in after.text
    assert "carries both signatures" in visitor.get(at).text
    assert "stops at once" in visitor.get(f"{at}/rotate").text
    _test(visitor, at)
    assert len(receiver.wait(1)[0].headers["webhook-signature"].split(" ")) == 2


def test_deletion_is_confirmed(visitor: Visitor, admin: Person, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    before = visitor.get(f"{at}/delete")
    assert "secret are deleted" in before.text
    assert admin.get(API).json()["data"]
    after = visitor.submit(before.form(f"{at}/delete"))
    assert (visitor.at, admin.get(API).json()["data"]) == (HOME, [])
    assert "No endpoints yet" in after.text
    assert visitor.get(at).status == 404


def test_page_of_a_test_shows_request_and_response(visitor: Visitor, receiver: Receiver) -> None:
    receiver.answers(500, b"no such table", {"x-from": "the receiver"})
    at = _add(visitor, receiver)
    page = _test(visitor, at)
    (got,) = receiver.wait(1)
    for shown in ("webhook.test", "500", "no such table", "x-from: the receiver", "Failed"):
        assert shown in page.text
    assert f"webhook-id: {got.webhook_id}" in page.text
    assert got.headers["webhook-signature"] in page.answer.text
    assert got.body.decode() in page.text


def test_unreachable_receiver_is_reported(visitor: Visitor, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    receiver.stop()
    page = _test(visitor, at)
    assert "No response" in page.text
    receiver.start = lambda: None  # type: ignore[method-assign]


def test_log_page_is_filtered_and_paged(visitor: Visitor, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    _test(visitor, at)
    fill = (
        "INSERT INTO deliveries (tenant_id, id, endpoint_id, event_id, event_type, status,"
        " attempt_count, retry_count, created_at) SELECT tenant_id, :id, endpoint_id, event_id,"
        " event_type, 'failed', 1, 0, created_at FROM deliveries WHERE endpoint_id = :of LIMIT 1"
    )
    _copy(visitor.service, at, fill, 60)
    pages = [visitor.get(at)]
    while older := _leads(pages[-1], "next"):
        pages.append(visitor.get(older))
    seen = [[link for link in page.links if "/deliveries/" in link] for page in pages]
    assert [len(links) for links in seen] == [25, 25, 11]
    assert len({link for links in seen for link in links}) == 61
    back = visitor.get(_leads(pages[2], "prev"))
    assert [link for link in back.links if "/deliveries/" in link] == seen[1]
    assert len(_log(visitor, f"{at}?status=succeeded")) == 1
    assert len(_log(visitor, f"{at}?status=failed")) == 25
    assert _log(visitor, f"{at}?status=pending") == []
    for odd in ("status=%3Cscript%3E", "before=,,nonsense", "before=%27%22%3E", "page=7"):
        assert len(_log(visitor, f"{at}?{odd}")) == 25


def test_log_page_is_filtered_by_type_and_time(visitor: Visitor, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    _test(visitor, at)
    assert len(_log(visitor, f"{at}?event_type=webhook.test")) == 1
    assert _log(visitor, f"{at}?event_type=ticket.created") == []
    assert len(_log(visitor, f"{at}?created_after=2020-01-01T00:00")) == 1
    assert _log(visitor, f"{at}?created_before=2020-01-01T00:00") == []
    page = visitor.get(f"{at}?event_type=webhook.test&created_after=2020-01-01T00:00")
    assert_page_is_secure(page)
    assert any("status=failed&event_type=webhook.test" in link for link in page.links)
    for odd in ("event_type=%3Cscript%3E", "created_after=nonsense"):
        assert len(_log(visitor, f"{at}?{odd}")) == 1


def test_waiting_deliveries_are_retried_by_a_button(
    visitor: Visitor, tenant: Tenant, receiver: Receiver
) -> None:
    at = _add(visitor, receiver, everything=[], events="ticket.created")
    receiver.answers(500, b"no", {"Retry-After": "300"})  # and not by itself meanwhile
    tenant.key().ticket()
    wait_until(lambda: "retry-now" in visitor.get(at).answer.text)
    receiver.answers(200, b"ok")
    page = visitor.submit(visitor.get(at).form(f"{at}/retry-now"))
    assert page.status == 200
    wait_until(lambda: len(_log(visitor, f"{at}?status=succeeded")) == 1)


def test_failed_deliveries_of_a_period_are_redelivered_by_a_form(
    visitor: Visitor, tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = _add(visitor, receiver, everything=[], events="ticket.created")
    action, endpoint_id = f"{at}/redeliver-failed", at.rpartition("/")[2]
    now_us = tenant.service.clock.now_us()
    for hours in (0, 2, 3, 24 * 8):
        early_us = now_us - hours * 3_600_000_000
        log_delivery(tenant, endpoint_id, refused(1), id=ids.mint(early_us), created_at=early_us)
    log_delivery(tenant, endpoint_id, refused(1), event_type="webhook.test")
    assert action in visitor.get(at).links
    page = visitor.get(action)
    assert_page_is_secure(page)
    words = "The last hour (1) The last 24 hours (3) The last 7 days (3) The last 30 days (4)"
    assert words in " ".join(page.text.split())
    monkeypatch.setattr(redelivery, "MOST", 2)
    page = visitor.submit(page.form(action), period="day")
    assert "The last 24 hours (1) The last 7 days (1) The last 30 days (2)" in " ".join(
        page.text.split()
    )
    page = visitor.submit(page.form(action), period="month")
    page = visitor.submit(page.form(action), period="month")
    assert (page.status, len(_log(visitor, at))) == (200, 5)
    assert visitor.submit(visitor.get(action).form(action), period="year").status == 422
    wait_until(lambda: len(_log(visitor, f"{at}?status=succeeded")) == 4)
    _set(tenant.service, at, "is_active = :no", no=False)
    refusal = visitor.submit(visitor.get(action).form(action), period="hour")
    assert (refusal.status, "paused" in refusal.text) == (409, True)
    assert action not in visitor.get(at).links


def _leads(page: Page, where: str) -> str:
    """The link to the next or the previous page."""
    found = re.search(rf'<a href="([^"]+)" rel="{where}">', page.answer.text)
    return found[1] if found else ""


def test_redelivery_keeps_the_id(visitor: Visitor, tenant: Tenant, receiver: Receiver) -> None:
    at = _add(visitor, receiver, everything=[], events="ticket.created")
    tenant.key().ticket()
    receiver.wait(1)
    wait_until(lambda: "answered 200" in visitor.get(at).text)
    (path,) = _log(visitor, at)
    visitor.submit(visitor.get(path).form(f"{path}/redeliver"))
    assert visitor.at == path
    first, second = receiver.wait(2)
    assert first.webhook_id == second.webhook_id
    wait_until(lambda: "Attempt 2" in visitor.get(path).text)


def test_paused_endpoint_has_no_redelivery_button(visitor: Visitor, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    _test(visitor, at)
    (path,) = _log(visitor, at)
    redeliver = visitor.get(path).form(f"{path}/redeliver")
    visitor.submit(visitor.get(at).form(f"{at}/pause"))
    actions = [form.action for form in visitor.get(path).forms]
    assert actions == ["/tickets", "/log-out"]
    page = visitor.submit(redeliver)
    assert page.status == 409
    assert "Activate it first" in page.text


def test_time_range_is_replayed(visitor: Visitor, tenant: Tenant, receiver: Receiver) -> None:
    at = _add(visitor, receiver, everything=[], events="customer.created")
    key = tenant.key()
    key.customer("someone@example.test")
    key.customer("another@example.test")
    ids = {got.webhook_id for got in receiver.wait(2)}
    page = visitor.get(f"{at}/replay")
    page = visitor.submit(page.form(f"{at}/replay"))
    assert (page.status, visitor.at) == (200, f"{at}/replay")
    assert "The last replays" in page.text
    again = receiver.wait(4)[2:]
    assert {got.webhook_id for got in again} == ids


_NO_RANGES = (
    ("soon", "", "since"),
    ("", "", "since"),
    ("2026-01-01T00:00", "2025-01-01T00:00", "until"),
    ("2000-01-01T00:00", "", "since"),
    ("2026-01-01T00:00", "2999-01-01T00:00", "until"),
)


def test_invalid_range_is_reported_beside_its_field(visitor: Visitor, receiver: Receiver) -> None:
    at = _add(visitor, receiver)
    form = visitor.get(f"{at}/replay").form(f"{at}/replay")
    for since, until, field in _NO_RANGES:
        page = visitor.submit(form, since=since, until=until)
        assert page.status == 422
        assert ("p", "id", f"{field}-fault") in page.attributes, (since, until)
        assert page.form(f"{at}/replay").value("since") == since
        assert page.form(f"{at}/replay").value("until") == until


def test_states_are_shown_with_their_reason(
    visitor: Visitor, admin: Person, receiver: Receiver
) -> None:
    at = _add(visitor, receiver)
    assert "nothing sent yet" in visitor.get(HOME).text
    _test(visitor, at)
    assert "answered 200" in visitor.get(HOME).text
    states = {
        "failing_since = created_at": ("Failing", "failing since", "Failing since"),
        "is_active = FALSE, disabled_reason = 'gone'": ("Disabled", "410 Gone", "410 Gone"),
        "disabled_reason = 'failing'": ("Disabled", "five days", "failed for five days"),
        "disabled_reason = NULL": ("Paused", "", "Paused"),
    }
    for change, (state, in_list, on_page) in states.items():
        _set(visitor.service, at, change)
        listed, shown = visitor.get(HOME), visitor.get(at)
        assert state in listed.text and in_list in listed.text
        assert state in shown.text and on_page in shown.text


def test_endpoints_of_another_tenant_are_not_found(
    visitor: Visitor, service: Service, receiver: Receiver
) -> None:
    stranger = logged_in(service.tenant("Strangers"))
    at = _add(stranger, receiver)
    _test(stranger, at)
    (delivery,) = _log(stranger, at)
    paths = (at, delivery, *(f"{at}/{end}" for end in ("edit", "rotate", "delete", "replay")))
    assert [visitor.get(path).status for path in paths] == [404] * len(paths)
    token = visitor.get(HOME).form("/log-out").value("form_token")
    ends = ("edit", "pause", "activate", "rotate", "delete", "test", "replay")
    for path in (f"{delivery}/redeliver", *(f"{at}/{end}" for end in ends)):
        fields = [("form_token", token), ("url", receiver.url), ("events", "reply.created")]
        fields += [("since", "2026-11-01T00:00")]
        assert visitor.post(path, fields).status in (404, 422), path
    assert len(receiver.got) == 1
    assert "Active" in stranger.get(at).text


def _plain(page: Page, allowed: Page) -> None:
    """Assert that a page has only elements that the page without hostile text has."""
    assert_page_is_secure(page)
    assert set(page.tags) <= set(allowed.tags)
    names = {(tag, name) for tag, name, _ in allowed.attributes}
    assert {(tag, name) for tag, name, _ in page.attributes} <= names


@SQLITE_FIRST
def test_hostile_text_is_shown_as_text(visitor: Visitor, admin: Person, receiver: Receiver) -> None:
    at = _add(visitor, receiver, description="Calm")
    receiver.answers(500, b"calm", {"x-calm": "calm"})
    _test(visitor, at)
    calm_delivery = visitor.get(_log(visitor, at)[0])
    new = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    calm = {path: visitor.get(path) for path in (HOME, at, f"{at}/edit", f"{at}/delete")}
    for text in HOSTILE_TEXTS:
        _set(visitor.service, at, "description = :text, url = :text", text=text)
        for path, without in calm.items():
            page = visitor.get(path)
            _plain(page, without)
            assert "62615533" not in page.text
        form = visitor.get(f"{at}/edit").form(f"{at}/edit")
        assert (form.value("description"), form.value("url")) == (text, text)
        _plain(_test(visitor, at), calm_delivery)
        _set(visitor.service, at, "url = :text", text=receiver.url)
        receiver.answers(500, text.encode(), {"x-calm": _for_header(text)})
        page = _test(visitor, at)
        _plain(page, calm_delivery)
        assert " ".join(text.split()) in page.text
        bad = visitor.submit(new, url=text, description=text, events=[text], everything=[])
        assert bad.status == 422
        assert_page_is_secure(bad)
        assert "script" not in bad.tags[bad.tags.index("body") :]
        assert not [name for _, name, _ in bad.attributes if name.startswith("on")]


def _for_header(text: str) -> str:
    return "".join(letter for letter in text if " " <= letter <= "~")


def test_response_in_an_unknown_encoding_is_shown_as_text(
    visitor: Visitor, receiver: Receiver
) -> None:
    at = _add(visitor, receiver)
    receiver.answers(500, b"\xff\xfe<b>\x00\xed\xa0\x80" + b"a" * 5000)
    page = _test(visitor, at)
    assert page.status == 200
    assert "<b>" in page.text and "b" not in page.tags
    assert len(page.answer.text) < 12_000
