"""Saved views: whose they are, what they show, their counts, and their filters that have gone."""

from urllib.parse import quote

import pytest

from sealdesk import ids
from sealdesk.tickets.ticket.store import counts
from sealdesk.tickets.views import rules
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.pages import INBOX, Page, Visitor, logged_in, ticket_ids
from tests.support.service import Tenant

VIEWS = "/tickets/views"


def agent(tenant: Tenant, name: str) -> Visitor:
    """A browser with the log-in of a new agent."""
    email = f"{name}.{tenant.id}@example.test".lower()
    tenant.user("agent", email, name)
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    return visitor


def save(visitor: Visitor, name: str, query: str = "priority=high", owner: str = "me") -> Page:
    """Save a view; the page that follows."""
    form = visitor.get(f"{VIEWS}/new?{query}").form(VIEWS)
    return visitor.submit(form, name=name, owner=owner)


def view_id(page: Page) -> str:
    """The id of the view that a page shows."""
    path = str(page.answer.extensions["target"])
    assert "view=" in path, page.text
    return path.partition("view=")[2].partition("&")[0]


def names(visitor: Visitor) -> list[str]:
    """The names of the saved views, in the order of the list."""
    page = visitor.get(VIEWS)
    return [dict(form.fields)["name"] for form in page.forms if "name" in dict(form.fields)]


def test_a_saved_view_shows_its_tickets(visitor: Visitor, key: Key) -> None:
    high = key.ticket(priority="high")
    key.ticket()
    page = save(visitor, "Hot")
    assert (page.status, ticket_ids(page)) == (200, [high["id"]])
    saved = view_id(page)
    assert f"{INBOX}?view={saved}" in visitor.get(INBOX).links
    assert ticket_ids(visitor.get(f"{INBOX}?view={saved}")) == [high["id"]]
    # Every link of the page names all filters, so the view stays as it is while they change.
    (closed,) = [link for link in page.links if "status=closed" in link and saved in link]
    assert "priority=high" in closed and ticket_ids(visitor.get(closed)) == []


def test_another_persons_view_does_not_exist(visitor: Visitor, tenant: Tenant) -> None:
    theirs = view_id(save(visitor, "Secret plans"))
    bo = agent(tenant, "Bo")
    for path in (f"{INBOX}?view=mine", VIEWS, f"{VIEWS}/counts"):
        assert "Secret plans" not in bo.get(path).answer.text
    assert bo.get(f"{INBOX}?view={theirs}").status == 404
    token = [("form_token", dict(save_form(bo))["form_token"])]
    for path in ("", "/move", "/delete"):
        answer = bo.post(f"{VIEWS}/{theirs}{path}", [*token, ("name", "Mine now"), ("to", "up")])
        assert answer.status == 404
    assert "Secret plans" in visitor.get(VIEWS).answer.text


def save_form(visitor: Visitor) -> list[tuple[str, str]]:
    return visitor.get(f"{VIEWS}/new").form(VIEWS).fields


def test_a_view_of_another_desk_does_not_exist(visitor: Visitor, tenant: Tenant) -> None:
    other = logged_in(tenant.service.tenant())
    theirs = view_id(save(other, "Elsewhere", owner="desk"))
    assert visitor.get(f"{INBOX}?view={theirs}").status == 404
    assert "Elsewhere" not in visitor.get(INBOX).text


def test_views_of_the_desk_are_seen_by_all_and_changed_by_administrators(
    visitor: Visitor, tenant: Tenant
) -> None:
    shared = view_id(save(visitor, "Everybody", owner="desk"))
    bo = agent(tenant, "Bo")
    assert f"{INBOX}?view={shared}" in bo.get(f"{INBOX}?view=mine").links
    assert names(bo) == []
    token = ("form_token", dict(save_form(bo))["form_token"])
    page = bo.post(VIEWS, [token, ("name", "For all"), ("query", ""), ("owner", "desk")])
    assert page.status == 422
    assert "Only administrators change the views of the desk." in page.text
    for path in ("", "/move", "/delete"):
        page = bo.post(f"{VIEWS}/{shared}{path}", [token, ("name", "Bo's"), ("to", "up")])
        assert page.status == 422
    assert names(visitor) == ["Everybody"]


def test_views_are_renamed_ordered_and_deleted(visitor: Visitor) -> None:
    saved = [view_id(save(visitor, name)) for name in ("One", "Two", "Three")]
    page = visitor.get(VIEWS)
    page = visitor.submit(page.form(f"{VIEWS}/{saved[0]}"), name="First")
    page = visitor.submit(page.form(f"{VIEWS}/{saved[2]}/move"), to="up")
    assert names(visitor) == ["First", "Three", "Two"]
    page = visitor.submit(page.form(f"{VIEWS}/{saved[0]}/move"), to="up")
    assert names(visitor) == ["First", "Three", "Two"]
    visitor.submit(page.form(f"{VIEWS}/{saved[1]}/delete"))
    assert names(visitor) == ["First", "Three"]
    assert visitor.get(f"{INBOX}?view={saved[1]}").status == 404


def test_changed_filters_are_saved_in_the_view(visitor: Visitor, key: Key) -> None:
    low = key.ticket(priority="low")
    saved = view_id(save(visitor, "Hot"))
    page = visitor.get(f"{INBOX}?view={saved}&status=open&priority=low")
    visitor.submit(page.form(f"{VIEWS}/{saved}"))
    assert ticket_ids(visitor.get(f"{INBOX}?view={saved}")) == [low["id"]]
    page = visitor.get(f"{INBOX}?view={saved}")
    assert [form for form in page.forms if form.action == f"{VIEWS}/{saved}"] == []


@for_each("name", ["", "   ", "x" * 65])
def test_a_name_has_1_to_64_characters(visitor: Visitor, name: str) -> None:
    page = save(visitor, name)
    assert page.status == 422
    assert ("input", "aria-invalid", "true") in page.attributes
    assert names(visitor) == []


def test_two_views_of_an_owner_have_different_names(visitor: Visitor) -> None:
    save(visitor, "Straße")
    for same in ("Straße", " strasse ", "STRASSE"):
        page = save(visitor, same)
        assert (page.status, "already a view with this name" in page.text) == (422, True)
    assert save(visitor, "Straße", owner="desk").status == 200
    other = view_id(save(visitor, "Other"))
    form = visitor.get(VIEWS).form(f"{VIEWS}/{other}")
    page = visitor.submit(form, name="Strasse")
    assert (page.status, "already a view with this name" in page.text) == (422, True)
    assert ("input", "value", "Strasse") in page.attributes


def test_the_fifty_first_view_is_refused(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules.MAX_VIEWS == 50
    monkeypatch.setattr("sealdesk.tickets.views.actions.MAX_VIEWS", 2)
    assert [save(visitor, name).status for name in "abc"] == [200, 200, 422]
    assert save(visitor, "d", owner="desk").status == 200


def test_built_in_views_show_their_tickets_and_counts(visitor: Visitor, tenant: Tenant) -> None:
    key = tenant.key()
    me = str(tenant.admin().get("/api/v1/auth/me").json()["data"]["id"])
    mine = key.ticket(assignee_id=me)
    urgent = key.ticket(priority="urgent")
    closed = key.ticket()
    key.patch(f"/api/v1/external/tickets/{closed['id']}", {"status": "closed"})
    for name, found in {
        "mine": [mine], "unassigned": [urgent], "urgent": [urgent], "closed": [closed],
    }.items():  # fmt: skip
        page = visitor.get(f"{INBOX}?view={name}")
        assert ticket_ids(page) == [each["id"] for each in found], name
    assert "Mine 1 Unassigned 1" in visitor.get(f"{VIEWS}/counts").text
    assert (
        "Urgent 1 Followed by me Snoozed Recently closed 1" in visitor.get(f"{VIEWS}/counts").text
    )
    assert visitor.get(f"{INBOX}?view=nonsense").status == 200


def test_counts_stop_at_their_bound(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert counts.MAX_COUNT == 100
    for _ in range(4):
        customer = key.ticket(priority="low", tags=["vip"])["customer"]["id"]
    save(visitor, "Served", f"customer={customer}&status=all")
    save(visitor, "Several", "priority=low&tag=vip")
    text = visitor.get(f"{VIEWS}/counts").text
    assert "Unassigned 4" in text and "Served 4" in text and "Several 4" in text
    monkeypatch.setattr(counts, "MAX_COUNT", 3)
    text = visitor.get(f"{VIEWS}/counts").text
    assert "Unassigned 3+" in text and "Served 3+" in text and "Several 3+" in text
    monkeypatch.setattr(counts, "MAX_COUNT", 100)
    monkeypatch.setattr(counts, "_MAX_EXAMINED", 4)
    text = visitor.get(f"{VIEWS}/counts").text
    assert "Unassigned 4" in text and "Served 4" in text and "Several 2+" in text


def test_a_view_says_which_of_its_filters_have_gone(visitor: Visitor, tenant: Tenant) -> None:
    bo = tenant.user("agent", f"bo.{tenant.id}@example.test", "Bo")
    gone = ids.mint(1_790_000_000_000_000)
    by_bo = view_id(save(visitor, "Bo's", f"assignee={bo}"))
    by_nobody = view_id(save(visitor, "Gone", f"assignee={gone}&customer={gone}"))
    unknown = view_id(save(visitor, "Unknown"))
    tenant.service.run(f"UPDATE views SET query = 'status=open&team=red' WHERE id = '{unknown}'")
    tenant.deactivate(bo)
    tenant.key().ticket()  # an empty desk shows its first steps
    assert "Bo of this view is deactivated" in visitor.get(f"{INBOX}?view={by_bo}").text
    page = visitor.get(f"{INBOX}?view={by_nobody}")
    assert page.status == 200
    assert "The person of this view no longer exists." in page.text
    assert "The customer of this view no longer exists." in page.text
    assert "no longer exists: team: red" in visitor.get(f"{INBOX}?view={unknown}").text


def test_hostile_texts_are_names_and_filters_of_views(visitor: Visitor) -> None:
    texts = [text for text in HOSTILE_TEXTS if text.strip() and "\0" not in text]
    for text in texts[:8]:
        page = save(visitor, text[:64].strip() or "x", f"tag={quote(text[:64])}")
        assert page.status in (200, 422)
        assert page.tags.count("script") == 1
