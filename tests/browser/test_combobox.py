"""The list that a select opens: what it finds, its keys, and where the focus goes."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.client import Key
from tests.support.pages import INBOX
from tests.support.service import PASSWORD, Tenant

TICKETS = "/api/v1/external/tickets"
PEOPLE = ("Ana Prieto", "Ana Prieto", "Jürgen Ott", "Ines Okafor", "Theo Brandt", "Vera Bakker")


@pytest.fixture
def people(tenant: Tenant) -> list[str]:
    """The ids of agents, of whom two have the same name."""
    return [
        tenant.user("agent", f"agent{n}.of.{tenant.id}@example.test", name)
        for n, name in enumerate(PEOPLE)
    ]


def _now(key: Key, ticket_id: str, field: str) -> Any:
    return key.get(f"{TICKETS}/{ticket_id}").json()["data"][field]


def _saved(page: Page, field: str) -> None:
    page.locator(f"[data-field={field}]").get_by_text("Saved", exact=True).wait_for()


def test_people_are_found_by_any_part_of_their_name_without_accents(
    window: Window, key: Key, people: list[str]
) -> None:
    page, ticket = window.page, key.ticket()["id"]
    page.goto(f"{INBOX}/{ticket}")
    page.keyboard.press("A")
    field = page.get_by_role("combobox", name="Assigned to").and_(page.locator("input"))
    expect(field).to_be_focused()
    # Nobody and oneself first; each with a face.
    options = page.get_by_role("listbox").get_by_role("option").locator("bdi")
    expect(options).to_have_count(len(PEOPLE) + 2)
    expect(options.first).to_have_text("Nobody")
    page.keyboard.type("jurgen o")
    expect(options).to_have_text(["Jürgen Ott"])
    page.keyboard.press("Enter")
    _saved(page, "assignee_id")
    assert _now(key, ticket, "assignee_id") == people[2]
    expect(page.locator("[data-field=assignee_id] > .sign")).to_have_text("JO")
    expect(page.locator("h1")).to_be_focused()
    for press in ("s", "ArrowDown", "Escape"):  # nothing is chosen
        page.keyboard.press(press)
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(page.locator("#status")).to_have_value("open")
    # Of two people of one name the one is chosen that is marked.
    page.keyboard.press("A")
    page.keyboard.type("ana")
    page.keyboard.press("ArrowDown")
    marked = page.locator("select#assignee_id option", has_text="Ana Prieto").nth(1)
    wanted = marked.get_attribute("value")
    page.keyboard.press("Enter")
    expect(page.locator("#assignee_id")).to_have_value(str(wanted))
    state = page.locator("[data-field=assignee_id] [data-state]")
    expect(state).not_to_contain_text("Saving")
    assert _now(key, ticket, "assignee_id") == wanted and wanted in people[:2]


@pytest.mark.mouse
@pytest.mark.prove
def test_the_list_opens_by_mouse_and_keys_and_closes_without_a_choice(
    window: Window, key: Key
) -> None:
    page, ticket = window.page, key.ticket()["id"]
    page.goto(f"{INBOX}/{ticket}")
    listbox, status = page.get_by_role("listbox"), page.locator("#status")
    status.click()
    expect(listbox).to_be_visible()
    status.click()
    expect(listbox).to_have_count(0)
    status.click()
    page.locator("#conversation").evaluate(
        "each => each.parentElement.dispatchEvent(new MouseEvent('mousedown', {bubbles: true}))"
    )
    expect(listbox).to_have_count(0)
    # A key that would change a select at once opens it instead.
    for opening in ("ArrowDown", "Enter", "p"):
        status.focus()
        page.keyboard.press(opening)
        expect(listbox).to_be_visible()
        page.keyboard.press("Escape")
        expect(listbox).to_have_count(0)
        expect(status).to_be_focused()
    # Tab leaves it for the next field.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(listbox).to_have_count(0)
    expect(page.locator("#priority")).to_be_focused()
    assert _now(key, ticket, "status") == "open"
    # The choice by mouse is saved, and single keys live at once.
    status.click()
    listbox.get_by_text("On hold", exact=True).click()
    _saved(page, "status")
    assert _now(key, ticket, "status") == "on_hold"
    page.keyboard.press("r")
    expect(page.get_by_label("Your reply")).to_be_focused()


def test_a_person_who_was_deactivated_while_the_list_was_open_is_not_assigned(
    window: Window, tenant: Tenant, key: Key, people: list[str]
) -> None:
    page, ticket = window.page, key.ticket()["id"]
    page.goto(f"{INBOX}/{ticket}")
    page.keyboard.press("A")
    page.keyboard.type("vera")
    tenant.deactivate(people[5])
    page.keyboard.press("Enter")
    expect(page.locator("[data-field=assignee_id] .fault")).to_contain_text("Not saved.")
    assert _now(key, ticket, "assignee_id") is None
    # The choice that cannot be saved is given up, or the page would ask before it is left.
    page.locator("#assignee_id").select_option("")


@pytest.mark.prove
def test_an_open_list_is_accessible(
    opened: Callable[..., Window], tenant: Tenant, key: Key, people: list[str]
) -> None:
    window = opened(reduced_motion="reduce")
    window.enter(tenant.admin_email, PASSWORD)
    page, looker = window.page, Looker(window, "both")
    page.goto(f"{INBOX}/{key.ticket()['id']}")
    for opens in ("A", "s"):
        page.keyboard.press(opens)
        assert looker.look(f"the list of {opens}") == []
        page.keyboard.press("Escape")


def test_suggestions_for_what_is_no_longer_typed_are_not_shown(window: Window, key: Key) -> None:
    page, held = window.page, list[Route]()
    key.ticket(tags=["vip", "vase"])
    page.goto(f"{INBOX}/new")
    tags = page.get_by_label("Tags", exact=True)
    page.route("**/tags?q=v", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    with page.expect_request("**/tags?q=v"):
        tags.press_sequentially("v")
    tags.press_sequentially("i")
    options = page.locator(".pop [role=option]")
    expect(options).to_have_count(2)  # one that is known, and the one that is created
    with page.expect_event("requestfinished", lambda each: each.url.endswith("q=v")):
        held[0].continue_()
    expect(options).to_have_count(2)


def test_a_ticket_is_opened_for_one_of_two_customers_of_a_name_with_tags_and_a_preview(
    window: Window, key: Key
) -> None:
    page = window.page
    for name in ("one", "two"):
        key.customer(f"{name}@ana.test", name="Ana Prieto")
    key.ticket(tags=["vip", "vase"])
    page.goto(f"{INBOX}/new")
    email, tags = page.get_by_label("E-mail address"), page.get_by_label("Tags", exact=True)
    email.press_sequentially("prieto")
    options = page.locator(".pop [role=option]")  # selects without scripts have options too
    expect(options).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(email).to_have_value("prieto")
    page.keyboard.press("ArrowDown")
    options.filter(has_text="two@ana.test").click()
    expect(email).to_have_value("two@ana.test")
    named = page.get_by_label("Name of the customer")
    expect(named).to_have_value("Ana Prieto")
    # Another address is of another person, who does not get this name.
    email.fill("new@ben.test")
    expect(named).to_have_value("")
    email.fill("prieto")
    options.filter(has_text="two@ana.test").click()
    expect(named).to_have_value("Ana Prieto")
    tags.press_sequentially("v")
    expect(options).to_have_count(3)  # and the one that is created
    options.filter(has_text="vip").click()
    expect(tags).to_be_focused()
    tags.press_sequentially("kiln")
    options.filter(has_text="Create “kiln”").click()
    page.get_by_label("Subject").fill("Bowl")
    page.get_by_label("Description").fill("Cracked")
    window.press("Open the ticket")
    ticket = page.url.rpartition("/")[2]
    assert _now(key, ticket, "customer")["email"] == "two@ana.test"
    assert _now(key, ticket, "tags") == ["vip", "kiln"]
    # A tag that it has, in another spelling, is no second one, and nothing typed is left.
    page.keyboard.press("t")
    with page.expect_response(lambda answer: answer.url.endswith("q=KILN")):
        page.keyboard.type("KILN")
    page.keyboard.press("Enter")
    expect(page.locator("#new_tags")).to_have_value("")
    # On the ticket: a key opens the field, arrows choose, and the focus goes back.
    page.keyboard.press("t")
    page.keyboard.type("va")
    expect(options).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    _saved(page, "tags")
    assert _now(key, ticket, "tags") == ["vip", "kiln", "vase"]
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("r")
    page.keyboard.type("A **new** bowl")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[data-shown] strong")).to_have_text("new")
    page.keyboard.type(" is *yours*")  # the focus is in the text
    expect(page.locator("[data-shown] em")).to_have_text("yours")
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_be_focused()
    expect(page.get_by_label("Your reply")).to_have_value("A **new** bowl is *yours*")
    page.get_by_label("Your reply").fill("")
