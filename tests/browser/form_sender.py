"""The forms of pages, sent by the browser as nobody would fill them in."""

from typing import NamedTuple

from playwright.sync_api import Page

from tests.browser.xss_texts import Texts

Fields = list[tuple[str, str]]
_TOKEN = "form_token"
_FOUND = """() => [...document.querySelectorAll("form[method=post]")].map((form) => [
  form.getAttribute("action"),
  [...new FormData(form)],
  [...form.elements].map((each) => each.name).filter((name) => name),
])"""
# As a form of the page at which it stands, past all that the page would hold back.
_SEND = """([action, fields]) => {
  const form = Object.assign(document.createElement("form"), { method: "post", action });
  for (const [name, value] of fields) {
    form.append(Object.assign(document.createElement("textarea"), { name, value }));
  }
  document.body.append(form);
  form.submit();
}"""


class Form(NamedTuple):
    """A form of a page: where it leads, what it is sent with as it stands, all its names."""

    action: str
    stands: Fields
    names: list[str]

    @property
    def is_typed(self) -> bool:
        return set(self.names) > {_TOKEN} or _TOKEN not in self.names

    def hostile(self, texts: Texts) -> Fields:
        """Hostile texts in all of it, also where a page lets one only choose."""
        token = [(name, value) for name, value in self.stands if name == _TOKEN]
        names = [name for name in dict.fromkeys(self.names) if name != _TOKEN]
        return [*token, *((name, texts.whole(n)) for n, name in enumerate(names))]

    def typed(self, **typed: str) -> Fields:
        """As it stands, but for these fields."""
        return [*(field for field in self.stands if field[0] not in typed), *typed.items()]


def forms_of(page: Page) -> dict[str, Form]:
    """The forms of a page, by where they lead."""
    found = [
        Form(action, [(name, value) for name, value in stands], names)
        for action, stands, names in page.evaluate(_FOUND)
    ]
    return {form.action.partition("?")[0]: form for form in found}


def send(page: Page, form: Form, fields: Fields) -> bool:
    """Send a form; whether it is answered with a page of its own, and not led on to another."""
    with page.expect_navigation() as led:
        page.evaluate(_SEND, [form.action, fields])
    assert led.value.status < 500, form.action
    return led.value.request.redirected_from is None
