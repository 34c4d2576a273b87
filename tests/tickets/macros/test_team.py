"""The team that a macro sets, and macros of one team."""

from sealdesk import ids
from tests.support.client import Key, Person
from tests.support.pages import Visitor
from tests.support.service import Service, Tenant
from tests.tickets.macros import MACROS, made, new_macro
from tests.tickets.test_notifications import Agent

HOME = "/settings/macros"
TEAMS = "/api/v1/teams"


def team_of(admin: Person, name: str = "Returns <b>") -> str:
    return str(admin.post(TEAMS, {"name": name}).json()["data"]["id"])


def test_a_macro_takes_only_teams_of_the_desk(admin: Person, service: Service) -> None:
    macro, deleted = made(admin, body="", team_id=team_of(admin)), team_of(admin, "Gone")
    admin.call("DELETE", f"{TEAMS}/{deleted}")
    path = f"{MACROS}/{macro['id']}"
    for unknown in (team_of(service.tenant().admin()), deleted, ids.mint(1)):
        for answer in (
            admin.patch(path, {"team_id": unknown}),
            admin.post(MACROS, new_macro(shortcut="other", team_id=unknown)),
        ):
            (fault,) = answer.json()["errors"]
            assert (fault["pointer"], fault["code"]) == ("/team_id", "unknown_team")
    assert admin.get(path).json()["data"] == macro
    changed = admin.patch(path, {"team_id": None, "body": "Text"}).json()["data"]
    assert (changed["team_id"], changed["body"]) == (None, "Text")


def test_the_form_chooses_a_team_which_goes_along_with_the_reply(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    assert "team_id" not in dict(visitor.get(f"{HOME}/new").form(f"{HOME}/new").fields)
    team, ticket = team_of(admin), key.ticket()
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    page = visitor.submit(form, name="Hand over", shortcut="over", team_id=team)
    assert "Team: Returns <b>" in page.text
    (macro,) = admin.get(MACROS).json()["data"]
    assert macro["team_id"] == team
    form_at = f"{HOME}/{macro['id']}"
    assert visitor.get(form_at).form(form_at).value("team_id") == team
    at = f"/tickets/{ticket['id']}"
    preview = visitor.get(f"{at}/macro/{macro['id']}")
    assert "Goes along with your reply. Team: Returns <b>" in preview.text
    form = visitor.get(at).form(f"{at}/reply")
    page = visitor.post(f"{at}/macro", [*form.fields, ("body", "Hi"), ("macro", macro["id"])])
    assert "Team: Returns <b>" in page.text
    visitor.submit(page.form(f"{at}/reply"), body="Hi")
    stored = key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"]
    assert (stored["team_id"], stored["reply_count"]) == (team, 1)
    assert "Returns <b>" not in visitor.get(f"{at}/macro/{macro['id']}").text  # it has it already


def test_a_deleted_team_is_named_and_left_out(visitor: Visitor, admin: Person, key: Key) -> None:
    team, ticket = team_of(admin), key.ticket()
    macro = made(admin, team_id=team)
    admin.call("DELETE", f"{TEAMS}/{team}")
    page = visitor.get(f"/tickets/{ticket['id']}/macro/{macro['id']}")
    assert "sets the team Returns <b>, which is deleted. The team stays as it is." in page.text
    assert "Goes along" not in page.text
    path = f"{HOME}/{macro['id']}"
    visitor.submit(visitor.get(path).form(path), name="Renamed")
    stored = admin.get(path.replace("/settings", "/api/v1")).json()["data"]
    assert (stored["name"], stored["team_id"]) == ("Renamed", team)


def test_a_macro_of_a_team_is_its_members(
    visitor: Visitor, admin: Person, tenant: Tenant, key: Key
) -> None:
    team, ticket = team_of(admin), f"/tickets/{key.ticket()['id']}"
    member, other = (Agent(tenant, name) for name in ("Member", "Other"))
    admin.post(f"{TEAMS}/{team}/members", {"user_id": member.id})
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    fields = {"name": "Ours", "shortcut": "ours", "body": "Hello"}
    refused = visitor.submit(form, **fields, owner_id=ids.mint(1))
    assert refused.status == 422 and "There is no such team." in refused.text
    page = visitor.submit(refused.form(f"{HOME}/new"), owner_id=team)
    assert "Returns <b> ;ours" in page.text
    (path,) = [each for each in page.links if each.startswith(f"{HOME}/0")]
    preview = f"{ticket}/macro/{path.rpartition('/')[2]}"
    for each, is_shown in ((member.visitor, True), (other.visitor, False), (visitor, False)):
        assert ("Ours ;ours" in each.get(ticket).text) == is_shown
        assert each.get(preview).status == (200 if is_shown else 404)
    assert [each.visitor.get(path).status for each in (member, other)] == [404, 404]
    assert admin.get(MACROS).json()["data"] == []
    changed = visitor.submit(visitor.get(path).form(path), name="Still ours")
    assert "Still ours" in changed.text and "Still ours" in member.visitor.get(ticket).text
    assert "Still ours" in visitor.get("/settings/audit").text
    admin.call("DELETE", f"{TEAMS}/{team}")
    assert "Still ours" not in member.visitor.get(ticket).text
    visitor.submit(visitor.get(f"{path}/delete").form(f"{path}/delete"))
    assert path not in visitor.get(HOME).links
