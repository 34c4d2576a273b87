import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from sealdesk.errors import Conflict
from sealdesk.identity.auth import passwords
from sealdesk_demo import example_tenant
from sealdesk_demo.example_tenant import NewDemo
from tests.support.client import Key
from tests.support.databases import SQLITE_FIRST, Begin
from tests.support.pages import Visitor
from tests.support.service import PASSWORD, Service, wait_until

TICKETS = "/api/v1/external/tickets"


class Shop:
    """A service with the demo, and the demo's API key."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.made = self.fill()
        key = self.made.key
        self.key = Key(service, key.id, key.api_key, key.api_secret)
        self.tickets = self.key.walk(TICKETS, per_page=100)

    def fill(self) -> NewDemo:
        now_us, password_hash = self.service.clock.now_us(), passwords.hash_now(PASSWORD)
        return self.service.write(
            lambda tx: example_tenant.create(
                tx,
                admin_hash=password_hash,
                agent_hash=password_hash,
                key_ring=self.service.state.key_ring,
                now_us=now_us,
            )
        )


@pytest.fixture(scope="module")
def shop(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with begin(tmp_path_factory.mktemp("shop")) as service:
        yield Shop(service)


def test_the_key_sees_a_few_hundred_tickets(shop: Shop) -> None:
    assert len(shop.tickets) == shop.made.ticket_count
    assert 200 <= len(shop.tickets) <= 500


def test_the_reported_numbers_of_replies_and_customers_are_right(shop: Shop) -> None:
    (replies,) = shop.service.rows("SELECT count(*) AS count FROM replies LIMIT 1")
    customers = shop.key.walk("/api/v1/external/customers", per_page=100)
    assert replies["count"] == shop.made.reply_count
    assert len(customers) == shop.made.customer_count


def test_tickets_are_spread_over_the_last_weeks(shop: Shop) -> None:
    ages = [
        datetime.now(UTC) - datetime.fromisoformat(ticket["created_at"]) for ticket in shop.tickets
    ]
    assert timedelta(0) < min(ages) < timedelta(days=1)
    assert timedelta(days=25) < max(ages) < timedelta(days=30)
    assert max(Counter(age.days for age in ages).values()) < len(ages) / 5


def test_ticket_numbers_follow_the_time(shop: Shop) -> None:
    numbers = [ticket["number"] for ticket in shop.tickets]
    assert numbers == list(range(len(numbers), 0, -1))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("status", {"open", "pending", "on_hold", "resolved", "closed"}),
        ("priority", {"low", "medium", "high", "urgent"}),
        ("source", {"api", "email", "dashboard"}),
    ],
)
def test_there_is_a_ticket_for_every_filter(shop: Shop, field: str, values: set[str]) -> None:
    assert {ticket[field] for ticket in shop.tickets} == values


def test_no_text_shows_a_placeholder(shop: Shop) -> None:
    bodies = [row["body"] for row in shop.service.rows("SELECT body FROM replies LIMIT 5000")]
    texts = [f"{ticket['subject']} {ticket['description']}" for ticket in shop.tickets]
    assert not [text for text in texts + bodies if "{" in text or "}" in text]


def test_subjects_vary(shop: Shop) -> None:
    subjects = Counter(ticket["subject"] for ticket in shop.tickets)
    assert len(subjects) > len(shop.tickets) / 2


def test_the_desk_has_teams_a_view_custom_fields_and_macros_with_tickets(shop: Shop) -> None:
    admin = shop.service.log_in(example_tenant.ADMIN[1])
    teams = [each["id"] for each in admin.get("/api/v1/teams").json()["data"]]
    fields = admin.get("/api/v1/custom-fields").json()["data"]
    assert len(admin.get("/api/v1/macros").json()["data"]) == 2
    of_teams = Counter(ticket["team_id"] for ticket in shop.tickets)
    assert set(of_teams) == {*teams, None} and len(teams) == 3 and min(of_teams.values()) > 10
    visitor = Visitor(shop.service)
    visitor.log_in(example_tenant.AGENT[1])
    assert "Everybody's views Broken in transit" in visitor.get("/tickets").text
    values = Counter(key for ticket in shop.tickets for key in ticket["custom_fields"])
    assert set(values) == {field["key"] for field in fields} and min(values.values()) > 10


def test_tickets_are_rated_and_promised(shop: Shop) -> None:
    ratings = [
        ticket["satisfaction"]["rating"] for ticket in shop.tickets if ticket["satisfaction"]
    ]
    assert {2, 3, 4, 5} == {*ratings} and 50 < len(ratings) < len(shop.tickets) / 2
    due = [ticket for ticket in shop.tickets if ticket["due"]]
    assert 0 < len(due) < 20 and {each["priority"] for each in due} <= {"urgent", "high"}


def test_what_is_older_than_a_day_is_read(shop: Shop) -> None:
    visitor = Visitor(shop.service)
    visitor.log_in(example_tenant.ADMIN[1])
    page = visitor.get("/tickets?status=closed")
    assert len([row for row in page.attributes if row[1] == "data-ticket"]) == 50
    assert "Unread" not in page.text
    (unread,) = [int(value) for _, name, value in page.attributes if name == "data-unread"]
    assert 0 < unread < 20


def test_the_administrator_may_manage_the_key(shop: Shop) -> None:
    keys = shop.service.log_in(example_tenant.ADMIN[1]).get("/api/v1/api-keys").json()["data"]
    assert [key["id"] for key in keys] == [shop.made.key.id]


@SQLITE_FIRST
def test_there_is_one_demo_only(shop: Shop) -> None:
    with pytest.raises(Conflict):
        shop.fill()
    assert shop.key.walk(TICKETS, per_page=100) == shop.tickets


def test_lists_of_fifty_tickets_are_small(shop: Shop) -> None:
    visitor = Visitor(shop.service)
    visitor.log_in(example_tenant.ADMIN[1])
    found = (each["number"] for each in shop.tickets if re.search(r"\bthe", each["description"]))
    newest = f">#{max(found)}<"
    wait_until(lambda: newest in visitor.get("/tickets?q=the").answer.text)
    lists = ("q=the", "status=all", "status=all&sort=newest", "status=all&sort=priority")
    for query, language in product(lists, ("en", "de")):
        page = visitor.get(f"/tickets?{query}", accept_language=language).answer
        assert page.text.count("<li data-ticket") == 50
        assert len(page.content) <= 60 * 1024, (query, language)
