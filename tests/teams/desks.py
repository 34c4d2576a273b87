"""A tenant with a team, its members, and tickets for them."""

from typing import Any

from sealdesk.teams.assigning import assign_waiting
from tests.support.client import Key, Person
from tests.support.service import Service, Tenant

TEAMS = "/api/v1/teams"
TICKETS = "/api/v1/external/tickets"
_MINUTE_US = 60 * 1_000_000


class TeamDesk:
    """What an administrator does with teams, and what becomes of their tickets."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant
        self.service: Service = tenant.service
        self.admin: Person = tenant.admin()
        self.key: Key = tenant.key()

    def team(self, name: str = "Returns", **fields: Any) -> str:
        """The id of a new team, with round robin unless the fields say otherwise."""
        new = {"name": name, "assignment": "round_robin", **fields}
        answer = self.admin.post(TEAMS, new)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["data"]["id"])

    def member(self, *team_ids: str, name: str = "Ada", seen_min: float | None = 0) -> str:
        """A new user in these teams, who was seen so many minutes ago, or never."""
        user_id = self.tenant.user("agent", name=name)
        for team_id in team_ids:
            answer = self.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id})
            assert answer.status_code == 201, answer.text
        if seen_min is not None:
            self.see(user_id, seen_min)
        return user_id

    def see(self, user_id: str, minutes_ago: float = 0) -> None:
        """Store when a member was seen."""
        seen_at = self.service.clock.now_us() - int(minutes_ago * _MINUTE_US)
        sql = "UPDATE team_members SET seen_at = :at WHERE tenant_id = :tenant AND user_id = :user"
        params = {"at": seen_at, "tenant": self.tenant.id, "user": user_id}
        assert self.service.write(lambda tx: tx.execute(sql, params)) > 0

    def give_out(self, team_id: str) -> int:
        """Give out waiting tickets now, as one turn of the team does."""
        now_us, tenant_id = self.service.clock.now_us(), self.tenant.id
        return self.service.in_serving(
            lambda state: state.database.write(
                lambda tx: assign_waiting(tx, tenant_id, team_id, now_us), tenant_id
            )
        )

    def assignees(self, team_id: str) -> list[str | None]:
        """Who has the tickets of a team, the oldest ticket first."""
        listed = self.key.walk(f"{TICKETS}?team_id={team_id}&sort=asc", per_page=100)
        return [each["assignee_id"] for each in listed]

    def read(self, ticket: dict[str, Any]) -> dict[str, Any]:
        return dict(self.key.get(f"{TICKETS}/{ticket['id']}").json()["data"])

    def change(self, ticket: dict[str, Any], **fields: Any) -> dict[str, Any]:
        answer = self.key.patch(f"{TICKETS}/{ticket['id']}", fields)
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["data"])
