"""A key right after another changes what it is for, or nothing, however slow the server is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import CDPSession, Error

from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.pages import INBOX
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
LAYOUTS = ("list", "ticket", "panes")
DELAYS_MS = (0, 50, 100, 300)
# Of three tickets in the order of the list; the keys begin on the second one.
_NEWEST, _START, _OLDEST = range(3)


class Command(NamedTuple):
    """Keys, one after the other. effect: the field that they change, and its new value.

    leads: the tickets that the next keys may be for.
    """

    keys: str
    effect: tuple[str, Any] | None = None
    leads: tuple[int, ...] = (_START,)


SENTENCE = "youre"
COMMANDS = (
    Command("j", leads=(_OLDEST,)),
    Command("k", leads=(_NEWEST,)),
    Command("u"),
    Command("e", ("status", "resolved"), (_START, _OLDEST)),
    Command("s p Enter", ("status", "pending"), (_START, _OLDEST)),
    Command("p l Enter", ("priority", "low")),
    Command("t v i p Enter", ("tags", "vip")),
    Command("a", ("assignee_id", True)),
    Command("h Escape"),
    Command("t v i p Escape"),
    Command("x"),
    Command("*", leads=(_NEWEST, _START, _OLDEST)),
    Command("z"),
    Command("."),
    Command("/ Escape"),
    Command("Control+k Escape"),
    Command("? Escape"),
    Command("n Escape"),
    Command("r Escape"),
)
# Only tickets take it: in a list its letters are commands.
ANSWER = Command(f"r {' '.join(SENTENCE)}")
# The suite tries every third command, with two others; `make prove` each with each other.
PAIRS = [
    *(pytest.param(each, (COMMANDS[7], ANSWER), id=each.keys) for each in COMMANDS[::9]),
    *(
        pytest.param(each, (*COMMANDS, ANSWER), id=f"{each.keys} all", marks=pytest.mark.prove)
        for each in COMMANDS
    ),
]
# How many answers the page waits for.
_COUNT = """const send = window.fetch;
window.asked = 0;
window.fetch = (...what) => {
  window.asked += 1;
  return send(...what).finally(() => (window.asked -= 1));
};"""
_IS_IDLE = "document.readyState === 'complete' && window.asked === 0 && held === null"
_TEXTS = "[...document.querySelectorAll('main textarea')].map((each) => each.value).filter(Boolean)"
Fields = dict[str, Any]


class Desk:
    """A window in a layout, where an API key makes and reads the tickets."""

    def __init__(self, window: Window, key: Key) -> None:
        self._window, self._page, self._key = window, window.page, key
        self._network: CDPSession = self._page.context.new_cdp_session(self._page)
        self._page.add_init_script(_COUNT)
        self._page.goto(INBOX)

    def open(self, layout: str, tag: str) -> list[str]:
        """Three new tickets in a list of their own, at the second one; their ids, newest first."""
        ids = [self._key.ticket(subject=f"Order {n}", tags=[tag])["id"] for n in range(3)][::-1]
        panes = "two" if layout == "panes" else "one"
        self._page.evaluate(f"document.cookie = 'panes={panes}; path=/'")
        self._page.goto(f"{INBOX}?tag={tag}&sort=newest")
        if layout == "list":
            self._press("j j")
        else:
            self._page.get_by_role("link", name="Order 1").click()
            self._page.get_by_role("heading", name="Order 1").wait_for()
        self._settle()
        return ids

    def press_both(self, first: Command, second: Command, delay_ms: int) -> None:
        """Both without a pause, while each request takes so long."""
        self._delay(delay_ms)
        self._press(f"{first.keys} {second.keys}")
        self._settle()
        self._delay(0)

    def fields(self, ticket_id: str) -> Fields:
        """What the keys could change."""
        found = self._key.get(f"{TICKETS}/{ticket_id}").json()["data"]
        names = ("status", "priority", "tags", "snoozed_until", "reply_count", "subject")
        return {name: found[name] for name in names} | {"assignee_id": bool(found["assignee_id"])}

    def forget(self) -> list[str]:
        """The texts that were typed, which are deleted."""
        texts: list[str] = self._page.evaluate(_TEXTS)
        self._page.evaluate("localStorage.clear()")
        self._go("about:blank")
        self._go(INBOX)
        self._window.complaints.clear()  # that a request was not answered any more
        return texts

    def _go(self, address: str) -> None:
        """Go there once nothing is left to be saved, which the page would ask about."""
        while True:
            try:
                self._page.goto(address)
            except Error:
                self._page.wait_for_timeout(50)
            else:
                return

    def _press(self, keys: str) -> None:
        for each in keys.split():
            self._page.keyboard.press(each)

    def _settle(self) -> None:
        while not self._is_idle():
            self._page.wait_for_timeout(20)

    def _is_idle(self) -> bool:
        try:
            return bool(self._page.evaluate(_IS_IDLE))
        except Error:  # another page comes
            return False

    def _delay(self, milliseconds: int) -> None:
        speed = {"downloadThroughput": -1, "uploadThroughput": -1}
        how = {"offline": False, "latency": milliseconds, **speed}
        self._network.send("Network.emulateNetworkConditions", how)


def _effects(
    command: Command, places: Sequence[int], place: int, tag: str
) -> list[tuple[str, Any]]:
    """What a command for one of these places may change at this one."""
    if command.effect is None or place not in places:
        return []
    name, value = command.effect
    return [(name, [tag, value] if name == "tags" else value)]


@pytest.mark.mouse
@pytest.mark.parametrize(("first", "others"), PAIRS)
def test_a_key_right_after_another_changes_what_it_is_for_or_nothing(
    window: Window, tenant: Tenant, first: Command, others: Sequence[Command]
) -> None:
    desk = Desk(window, tenant.key())
    wrong: list[object] = []
    for number, second in enumerate(others, COMMANDS.index(first)):
        layout, delay_ms = LAYOUTS[number % 3], DELAYS_MS[number % 4]
        if second is ANSWER and layout == "list":
            continue
        tag = f"pair-{number}"
        ids = desk.open(layout, tag)
        before = [[*desk.fields(each).items()] for each in ids]
        desk.press_both(first, second, delay_ms)
        for place, ticket_id in enumerate(ids):
            allowed = _effects(first, (_START,), place, tag)
            allowed += _effects(second, first.leads, place, tag)
            changed = [each for each in desk.fields(ticket_id).items() if each not in before[place]]
            if unmeant := [each for each in changed if each not in allowed]:
                wrong.append((layout, delay_ms, second.keys, place, unmeant))
        texts = desk.forget()
        if not set(texts) <= {SENTENCE}:
            wrong.append((layout, delay_ms, second.keys, texts))
    assert wrong == []
