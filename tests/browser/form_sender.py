"""Sends the forms of pages from the browser, with values that no page would allow."""

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
# From the page, without its validation.
_SEND = """([action, fields]) => {
  const form = Object.assign(document.createElement("form"), { method: "post", action });
  for (const [name, value] of fields) {
    form.append(Object.assign(document.createElement("textarea"), { name, value }));
  }
  document.body.append(form);
  form.submit();
}"""


class Form(NamedTuple):
    """A form of a page: its action, its present values, the names of all its fields."""

    action: str
    values: Fields
    names: list[str]

    @property
    def is_typed(self) -> bool:
        return set(self.names) > {_TOKEN} or _TOKEN not in self.names

    def hostile(self, texts: Texts) -> Fields:
        """Hostile texts in all fields, also in those with fixed choices."""
        token = [(name, value) for name, value in self.values if name == _TOKEN]
        names = [name for name in dict.fromkeys(self.names) if name != _TOKEN]
        return [*token, *((name, texts.whole(n)) for n, name in enumerate(names))]

    def typed(self, **typed: str) -> Fields:
        """The present values, but for these fields."""
        return [*(field for field in self.values if field[0] not in typed), *typed.items()]


def forms_of(page: Page) -> dict[str, Form]:
    """The forms of a page, by action."""
    found = [
        Form(action, [(name, value) for name, value in values], names)
        for action, values, names in page.evaluate(_FOUND)
    ]
    return {form.action.partition("?")[0]: form for form in found}


def send(page: Page, form: Form, fields: Fields) -> bool:
    """Send a form; whether the response is a page and not a redirect."""
    with page.expect_navigation() as led:
        page.evaluate(_SEND, [form.action, fields])
    assert led.value.status < 500, form.action
    return led.value.request.redirected_from is None
