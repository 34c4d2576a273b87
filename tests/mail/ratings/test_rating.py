"""The page on which a customer rates a ticket, and what comes of it."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

from sealdesk.mail.ratings import actions, links
from sealdesk.mail.ratings.types import Rating
from sealdesk.state import AppState
from tests.mail.contact_form.support import ANN, FormDesk, Stranger
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import logged_in
from tests.support.service import wait_until

TICKETS = "/api/v1/external/tickets"
HOSTILE = "\"'></title></textarea><svg/onload=alert(1)>{{7**9}}"
DAY_S = 24 * 3600


def asked(desk: FormDesk, **new: Any) -> tuple[dict[str, Any], str]:
    """A ticket of Ann's, and the path of a link to rate it."""
    ticket = desk.key.ticket(customer={"email": ANN, "name": "Ann"}, **new)
    return ticket, link_to(desk, ticket)


def link_to(desk: FormDesk, ticket: dict[str, Any]) -> str:
    answer = desk.key.post(f"{TICKETS}/{ticket['id']}/rating-link", None)
    assert answer.status_code == 201, answer.text
    return str(urlsplit(answer.json()["data"]["url"]).path)


def events_of(desk: FormDesk) -> list[tuple[str, Any]]:
    desk.service.settle()
    answer = desk.key.get("/api/v1/external/events?type=ticket.rated,ticket.updated")
    return [(each["type"], each["data"]["changes"]) for each in answer.json()["data"]]


def test_a_customer_rates_a_ticket_once_without_a_session(desk: FormDesk) -> None:
    ticket, link = asked(desk, subject="Bowl")
    ann = Stranger(desk)
    page = ann.get(f"{link}?rating=4")
    assert page.status == 200 and "Bowl" in page.text
    assert_page_is_secure(page, scripts=0)
    assert page.answer.headers["x-robots-tag"] == "noindex, nofollow"
    assert "set-cookie" not in page.answer.headers
    form = page.form(link)
    assert form.value("rating") == "4"
    # A program that opens links changes nothing.
    assert desk.reread(ticket) == ticket and events_of(desk) == []
    done = ann.submit(form, rating="2", comment="  It took long. ")
    assert done.status == 200 and "Thank you for your rating" in done.text
    shown = desk.reread(ticket)
    given = shown["satisfaction"]
    assert (given["rating"], given["comment"]) == (2, "It took long.")
    assert shown["version"] == ticket["version"] + 1 and shown["updated_at"] == given["rated_at"]
    changes = {"satisfaction": [None, given]}
    assert events_of(desk) == [("ticket.updated", changes), ("ticket.rated", changes)]
    # Sent again, by a reload or with the link from another message.
    again = ann.submit(form, rating="5", comment="")
    assert again.status == 410 and "rated already" in again.text
    assert ann.get(link).status == 410
    assert desk.reread(ticket) == shown
    refused = desk.key.post(f"{TICKETS}/{ticket['id']}/rating-link", None)
    assert (refused.status_code, refused.json()["code"]) == (409, "already_rated")
    listed = {
        mark: desk.key.get(f"{TICKETS}?rating={mark}").json()["data"] for mark in (2, 5)
    }  # fmt: skip
    assert listed == {2: [shown], 5: []}
    assert desk.key.get(f"{TICKETS}?rating=6").status_code == 400
    page = logged_in(desk.tenant).get(f"/tickets/{ticket['id']}")
    assert "2 of 5" in page.text and "It took long." in page.text
    assert "Rating by the customer" in page.text


def test_forged_and_expired_links_say_so(desk: FormDesk) -> None:
    ticket, link = asked(desk)
    other, of_other = asked(desk)
    ann = Stranger(desk)
    forged = link[:60] + of_other[60:]
    for path in (forged, link[:-1], f"{link}aa", "/r/x", "/r/%C3%A4%00"):
        page = ann.get(path)
        assert page.status == 404 and "leads nowhere" in page.text, path
    form = ann.get(link).form(link)
    assert ann.post(forged, form.fields).status == 404
    ended = links.opened_until(desk.tenant.id, ticket["id"], desk.service.clock.now_us())
    ended = ended._replace(expires_at=ended.expires_at - links.KEPT_US - 1_000_000)
    path = f"/r/{links.token_of(desk.service.state.key_ring, ended)}"
    for page in (ann.get(path), ann.post(path, [("rating", "5")])):
        assert page.status == 410 and "has ended" in page.text
    assert [desk.reread(each)["satisfaction"] for each in (ticket, other)] == [None, None]


def test_merged_and_erased_tickets_are_not_rated(desk: FormDesk) -> None:
    merged, of_merged = asked(desk)
    ticket, link = asked(desk)
    ann = Stranger(desk)
    form = ann.get(of_merged).form(of_merged)
    merge = desk.key.post(f"{TICKETS}/{merged['id']}/merge", {"into": ticket["id"]})
    assert merge.status_code == 200
    assert ann.submit(form, rating="1").status == 410
    refused = desk.key.post(f"{TICKETS}/{merged['id']}/rating-link", None)
    assert refused.json()["code"] == "ticket_merged"
    form = ann.get(link).form(link)
    erase = f"/api/v1/external/customers/{ticket['customer']['id']}/erase"
    assert desk.key.post(erase, None).status_code == 202
    assert ann.submit(form, rating="1", comment="Me").status == 410
    refused = desk.key.post(f"{TICKETS}/{ticket['id']}/rating-link", None)
    assert refused.json()["code"] == "nobody_to_rate"
    assert desk.reread(ticket)["satisfaction"] is None


def test_erasing_removes_the_comment_everywhere(desk: FormDesk) -> None:
    ticket, link = asked(desk)
    ann = Stranger(desk)
    ann.submit(ann.get(link).form(link), rating="5", comment="My name is Ann")
    erase = f"/api/v1/external/customers/{ticket['customer']['id']}"
    assert desk.key.post(f"{erase}/erase", None).status_code == 202
    desk.service.clock.advance(11)
    desk.key = desk.tenant.key()
    wait_until(
        lambda: desk.key.get(f"{erase}/erasure").json()["data"]["status"] == "finished"
    )  # fmt: skip
    given = desk.reread(ticket)["satisfaction"]
    assert (given["rating"], given["comment"]) == (5, None)
    desk.service.settle()
    feed = desk.key.get("/api/v1/external/events").json()
    assert "My name" not in str(feed) and '"rating": 5' in str(feed).replace("'", '"')
    sql = "SELECT * FROM tickets WHERE tenant_id = :id LIMIT 9"
    assert "My name" not in str([tuple(row) for row in desk.service.rows(sql, id=desk.tenant.id)])


def test_wrong_ratings_are_named_and_typed_texts_are_kept(desk: FormDesk) -> None:
    ticket, link = asked(desk, subject=HOSTILE)
    ann = Stranger(desk)
    for mark in ("", "0", "6", "five", "5.0", "\u0665"):
        page = ann.post(link, [("rating", mark), ("comment", HOSTILE)])
        assert page.status == 422, mark
        assert ("p", "id", "rating-fault") in page.attributes
        assert_page_is_secure(page, scripts=0)
        assert "<svg/" not in page.answer.text and str(7**9) not in page.text
    desk.service.clock.advance(60)
    page = ann.post(link, [("rating", "5"), ("comment", "x" * 2001)])
    assert page.status == 422 and ("p", "id", "comment-fault") in page.attributes
    assert ann.post(link, [("rating", "5"), ("comment", f"{HOSTILE}\0")]).status == 400
    assert desk.reread(ticket)["satisfaction"] is None
    # Nobody's secrets get into a ticket.
    ann.post(link, [("rating", "5"), ("comment", f"See https://x.example{link} {HOSTILE}")])
    comment = desk.reread(ticket)["satisfaction"]["comment"]
    assert link not in comment and HOSTILE in comment
    page = logged_in(desk.tenant).get(f"/tickets/{ticket['id']}")
    assert "<svg/" not in page.answer.text and str(7**9) not in page.text


def test_of_two_ratings_at_once_one_is_stored(desk: FormDesk) -> None:
    ticket, _ = asked(desk)
    now_us = desk.service.clock.now_us()
    opened = links.opened_until(desk.tenant.id, ticket["id"], now_us)

    async def one(state: AppState, mark: int) -> str:
        given, tenant_id = Rating(mark), desk.tenant.id
        asked = await state.database.write(
            lambda tx: actions.rate(tx, opened, given, state.key_ring, now_us), tenant_id
        )
        return asked.state

    async def both(state: AppState) -> list[str]:
        return sorted(await asyncio.gather(one(state, 1), one(state, 5)))

    assert desk.service.in_serving(both) == ["open", "rated"]
    assert [kind for kind, _ in events_of(desk)] == ["ticket.updated", "ticket.rated"]


def test_the_page_is_limited_for_each_network_and_ticket(desk: FormDesk) -> None:
    _, link = asked(desk)
    answers = [Stranger(desk).post(link, [("rating", "x")]).status for _ in range(7)]
    assert answers == [*[422] * 6, 429]
