"""The teams beside a list, each with its open tickets."""

import re
from types import ModuleType
from typing import Any

import pytest

from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.tickets.notifications import store as notifications
from sealdesk.tickets.views import sidebar
from tests.support.pages import INBOX, Page, Visitor, logged_in, ticket_ids
from tests.support.service import Service
from tests.teams.desks import TeamDesk


@pytest.fixture
def visitor(desk: TeamDesk) -> Visitor:
    return logged_in(desk.tenant)


def _member_of(desk: TeamDesk, team_id: str) -> Visitor:
    email = f"eve.of.{desk.tenant.id}@example.test"
    user_id = desk.tenant.user("agent", email, "Eve")
    assert desk.admin.post(f"/api/v1/teams/{team_id}/members", {"user_id": user_id}).is_success
    visitor = Visitor(desk.service)
    visitor.log_in(email)
    return visitor


def _teams(page: Page, *team_ids: str) -> list[str]:
    links = [link.rpartition("view=")[2] for link in page.links if "?view=" in link]
    return [each for each in dict.fromkeys(links) if each in team_ids]


def test_each_team_leads_to_its_open_tickets(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns")
    shown, closed = desk.key.ticket(team_id=team_id), desk.key.ticket(team_id=team_id)
    desk.change(closed, status="closed")
    desk.key.ticket()
    page = visitor.get(f"{INBOX}?view={team_id}")
    assert ticket_ids(page) == [shown["id"]]
    assert ("a", "aria-current", "page") in page.attributes and "Returns 1" in page.text
    assert ticket_ids(visitor.get(page.answer.extensions["target"])) == [shown["id"]]
    (link,) = {each for each in page.links if "status=closed" in each and team_id in each}
    assert ticket_ids(visitor.get(link)) == [closed["id"]]
    assert re.findall(r'(?:Urgent|Snoozed)</bdi> <span class="count">(.*?)<', page.answer.text) == [
        "",
        "",
    ]


def test_the_readers_own_teams_come_first_and_only_some_are_shown(
    desk: TeamDesk, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, returns = desk.team("Orders"), desk.team("Returns")
    assert _teams(visitor.get(INBOX), orders, returns) == [orders, returns]
    member = _member_of(desk, returns)
    ticket = desk.key.ticket()
    for path in (INBOX, f"{INBOX}/{ticket['id']}"):
        assert _teams(member.get(path), orders, returns) == [returns, orders]
    monkeypatch.setattr(sidebar, "_MAX_TEAMS", 1)
    assert _teams(member.get(INBOX), orders, returns) == [returns]


def test_a_team_that_is_gone_is_not_shown_and_its_list_says_so(
    desk: TeamDesk, visitor: Visitor
) -> None:
    team_id = desk.team()
    at = f"/settings/teams/{team_id}"
    visitor.submit(visitor.get(f"{at}/delete").form(f"{at}/delete"))
    assert _teams(visitor.get(INBOX), team_id) == []
    assert "The team of this view was deleted" in visitor.get(f"{INBOX}?view={team_id}").text


def test_the_list_of_a_foreign_team_does_not_exist(visitor: Visitor, service: Service) -> None:
    other = TeamDesk(service.tenant())
    assert visitor.get(f"{INBOX}?view={other.team()}").status == 404


def test_other_pages_have_the_same_views_and_settings_their_own(
    desk: TeamDesk, visitor: Visitor
) -> None:
    team_id = desk.team()
    others = ("/customers", "/team-now", "/reports", "/notifications", "/tickets/new", "/account")
    for path in others:
        page = visitor.get(path)
        assert _teams(page, team_id) == [team_id] and f"{INBOX}?view=mine" in page.links, path
    assert _teams(visitor.get("/settings/teams"), team_id) == []


def test_only_whole_pages_read_what_stands_beside_them(
    desk: TeamDesk, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    at = f"{INBOX}/{desk.key.ticket()['id']}"

    def note(module: ModuleType, name: str) -> None:
        found = getattr(module, name)

        async def noting(*given: Any) -> Any:
            read.append(name)
            return await found(*given)

        monkeypatch.setattr(module, name, noting)

    note(sidebar, "list_sidebar")
    note(notifications, "count_unread")
    note(mailboxes, "count_failing")
    bell = "/notifications/bell"
    for fragment in (f"{at}/answering", "/tickets/views/counts", bell):
        read.clear()
        assert visitor.get(fragment).status == 200
        assert read == ["count_unread"] * (fragment == bell), fragment
    read.clear()
    assert visitor.get(at).status == 200
    assert read == ["count_unread", "count_failing", "list_sidebar"]
