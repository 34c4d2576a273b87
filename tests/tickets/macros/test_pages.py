"""Settings → Macros."""

import pytest

from tests.support.client import Person
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor
from tests.support.service import Service, Tenant
from tests.tickets.macros import MACROS, made, new_macro

HOME = "/settings/macros"


def add(visitor: Visitor, **typed: str | list[str]) -> Page:
    """Send the form of a new macro; the page that follows."""
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    return visitor.submit(form, **new_macro(**typed))


def test_a_macro_is_added_changed_and_deleted(
    visitor: Visitor, admin: Person, tenant: Tenant
) -> None:
    agent = tenant.user("agent", name="Bo Berg")
    page = visitor.get(HOME)
    assert "No macros yet" in page.text and f"{HOME}/new" in page.links
    typed = {"name": "Refund", "shortcut": ";refund", "status": "pending"}
    page = add(visitor, **typed, assignee_id=agent, new_tags="refund, vip")
    (macro,) = admin.get(MACROS).json()["data"]
    assert visitor.at.partition("?")[0] == HOME
    for words in ("The macro “Refund” is added.", "Refund", ";refund", "Pending", "Bo Berg", "vip"):
        assert words in page.text
    assert (macro["shortcut"], macro["tags"]) == ("refund", ["refund", "vip"])
    path = f"{HOME}/{macro['id']}"
    form = visitor.get(path).form(path)
    assert form.value("assignee_id") == agent
    visitor.submit(form, status="", tags=["vip"], name="Money back")
    (changed,) = admin.get(MACROS).json()["data"]
    assert (changed["name"], changed["status"], changed["tags"]) == ("Money back", None, ["vip"])
    assert changed["assignee_id"] == agent
    page = visitor.submit(form, name="Of another page", tags=[])
    assert page.status == 412 and "Somebody else has changed this" in page.text
    assert page.form(path).value("name") == "Of another page"
    assert [each["name"] for each in admin.get(MACROS).json()["data"]] == ["Money back"]
    page = visitor.get(f"{path}/delete")
    assert "Money back" in page.text
    page = visitor.submit(page.form(f"{path}/delete"))
    assert "No macros yet" in page.text
    assert visitor.get(path).status == 404


def test_a_refused_macro_keeps_what_was_typed(visitor: Visitor, admin: Person) -> None:
    page = add(visitor, body="Hello {{customer.nam}}", status="pending", new_tags="a, b")
    form = page.form(f"{HOME}/new")
    assert page.status == 422
    assert "{{customer.nam}} is not a variable. Did you mean {{customer.name}}?" in page.text
    assert (form.value("body"), form.value("status")) == ("Hello {{customer.nam}}", "pending")
    assert [value for name, value in form.fields if name == "tags"] == ["a", "b"]
    assert admin.get(MACROS).json()["data"] == []
    made(admin)
    page = add(visitor)
    assert "Another macro has this shortcut." in page.text
    assert page.form(f"{HOME}/new").value("name") == "Refund"


def test_a_macro_above_the_limit_is_refused_with_its_text(
    visitor: Visitor, admin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(admin)
    monkeypatch.setattr("sealdesk.tickets.macros.rules.MAX_MACROS", 1)
    page = add(visitor, shortcut="second", body="Kept")
    assert page.status == 409
    assert "There are 1 macros, as many as there may be." in page.text
    assert page.form(f"{HOME}/new").value("body") == "Kept"


def test_the_list_says_that_an_assignee_is_deactivated(
    visitor: Visitor, admin: Person, tenant: Tenant
) -> None:
    agent = tenant.user("agent", name="Bo Berg")
    macro = made(admin, assignee_id=agent)
    tenant.service.run(f"UPDATE users SET is_active = FALSE WHERE id = '{agent}'")
    assert "Bo Berg (deactivated)" in visitor.get(HOME).text
    path = f"{HOME}/{macro['id']}"
    page = visitor.submit(visitor.get(path).form(path), name="Renamed")
    assert "Renamed" in page.text and visitor.at == HOME


def test_macros_are_listed_by_name(visitor: Visitor, admin: Person) -> None:
    for number, name in enumerate(("beta", "Alpha", "Gamma")):
        made(admin, name=name, shortcut=f"m{number}")
    text = visitor.get(HOME).text
    assert text.index("Alpha") < text.index("beta") < text.index("Gamma")


@pytest.fixture
def agent(tenant: Tenant) -> Visitor:
    """A browser with the log-in of an agent."""
    agent, email = Visitor(tenant.service), f"bo.{tenant.id}@example.test"
    tenant.user("agent", email, "Bo")
    agent.log_in(email)
    return agent


def test_macros_are_listed_in_their_folders(visitor: Visitor, admin: Person) -> None:
    for number, name in enumerate(
        ["Returns::Refund", "Zebra", "returns::EU :: Label", "Greeting", "RETURNS :: Swap"]
    ):
        new = {"name": name, "shortcut": f"m{number}", "body": "Hello"}
        admin.post("/api/v1/macros", new)
    text = visitor.get(HOME).text
    order = ["Greeting", "Zebra", "Returns", "Refund", "Swap", "returns / EU", "Label"]
    places = [text.index(each, text.index("Add a macro")) for each in order]
    assert places == sorted(places)
    assert "RETURNS" not in text


def test_agents_do_not_manage_macros_of_the_desk(agent: Visitor, admin: Person) -> None:
    macro = made(admin, name="Of the desk")
    page = agent.get("/account")
    assert HOME in page.links and "Of the desk" not in agent.get(HOME).text
    token = [("form_token", page.form("/account/name").value("form_token"))]
    for path in (f"{HOME}/{macro['id']}", f"{HOME}/{macro['id']}/delete"):
        assert agent.get(path).status == 404
        assert agent.post(path, [*token, ("name", "Taken over")]).status == 404
    assert admin.get(MACROS).json()["data"] == [macro]


def test_an_own_macro_is_used_changed_and_deleted_by_its_owner_only(
    agent: Visitor, visitor: Visitor, admin: Person, tenant: Tenant
) -> None:
    ticket = f"/tickets/{tenant.key().ticket()['id']}"
    assert "The macro “Mine” is added." in add(agent, name="Mine", shortcut="mine").text
    (path,) = [each for each in agent.get(HOME).links if each.startswith(f"{HOME}/0")]
    assert "Mine ;mine" in agent.get(ticket).text
    preview = f"{ticket}/macro/{path.rpartition('/')[2]}"
    assert "Hello" in agent.get(preview).text
    agent.submit(agent.get(path).form(path), name="Still mine")
    assert "Still mine" not in visitor.get(ticket).text + visitor.get(HOME).text
    assert [visitor.get(each).status for each in (path, preview)] == [404, 404]
    assert admin.get(MACROS).json()["data"] == []
    assert admin.get(f"{MACROS}/{path.rpartition('/')[2]}").status_code == 404
    assert "Mine" not in visitor.get("/settings/audit").text
    agent.submit(agent.get(f"{path}/delete").form(f"{path}/delete"))
    assert "mine" not in agent.get(ticket).text


def test_two_users_may_have_the_same_shortcut_but_not_that_of_the_desk(
    agent: Visitor, visitor: Visitor, admin: Person
) -> None:
    made(admin, shortcut="desk")
    for each in (agent, visitor):
        assert "is added" in add(each, shortcut="mine", owner_id="me").text
        assert "Another macro has this shortcut." in add(each, shortcut="DESK", owner_id="me").text
        assert "Another macro has this shortcut." in add(each, shortcut="Mine", owner_id="me").text


def test_a_user_has_a_limit_of_their_own(
    agent: Visitor, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.tickets.macros.rules.MAX_OWN_MACROS", 1)
    add(agent, shortcut="first")
    page = add(agent, shortcut="second", body="Kept")
    assert page.status == 409 and page.form(f"{HOME}/new").value("body") == "Kept"
    assert "is added" in add(visitor, shortcut="second").text


def test_a_macro_of_another_desk_does_not_exist(service: Service, visitor: Visitor) -> None:
    other = service.tenant("Elsewhere").admin()
    theirs = made(other)
    path = f"{HOME}/{theirs['id']}"
    token = [("form_token", visitor.get(f"{HOME}/new").form(f"{HOME}/new").value("form_token"))]
    for where in (path, f"{path}/delete"):
        assert visitor.get(where).status == 404
        assert visitor.post(where, [*token, *new_macro(name="Mine").items()]).status == 404
    assert other.get(MACROS).json()["data"] == [theirs]


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_of_macros_are_shown_as_text(
    visitor: Visitor, admin: Person, text: str
) -> None:
    body = text.replace("{{", "{ {")
    macro = made(admin, name=text, body=body, tags=[text])
    for path in (HOME, f"{HOME}/{macro['id']}", f"{HOME}/{macro['id']}/delete"):
        page = visitor.get(path)
        assert_page_is_secure(page)
        assert " ".join(text.split()) in page.text
