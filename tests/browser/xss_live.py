"""Which texts execute, or leave an element, on a page without protection."""

import re
from collections.abc import Collection
from typing import Literal

from playwright.sync_api import Error, Route

from tests.browser.chromium import Window
from tests.browser.page_checks import FOREIGN

# What a text is put into, as it stands; the last one holds even what ends nothing.
_AROUND = (
    "<svg onload=\"f('{}')\"></svg>", "<script>x='{}'</script>", '<script>x="{}"</script>',
    "<script>x=`{}`</script>", "<script>f('{}')</script>",
    "<script>if(1){x='{}'}</script>", '<a href="{}">x</a>', '<input value="{}">',
    "<input value='{}'>", "<p title={}>", "<textarea>{}</textarea>", "<title>{}</title>",
    "<dialog open>{}</dialog>", "{}",
)  # fmt: skip
# A text that executes calls this instead of a dialog.
_SAY = "window.alert = () => { try { top.isRun = true; } catch { /* Of elsewhere. */ } }"
_SEEN = f"""async (turns) => {{
  for (let turn = 0; turn < turns && !window.isRun; turn++) {{
    await new Promise((done) => setTimeout(done, 10));
  }}
  return [Boolean(window.isRun), ({FOREIGN})().length];
}}"""
_TURNS = (10, 300)  # of 10 ms; the second time for what a busy machine had not run
How = Literal["runs", "is left"]


def alive(window: Window, texts: Collection[str]) -> dict[str, How]:
    """The texts that execute by themselves, and those that leave foreign elements."""
    page, found, shown = window.page, dict[str, How](), [""]

    def answer(route: Route) -> None:
        if route.request.url.endswith("/shown"):
            route.fulfill(body=shown[0], content_type="text/html; charset=utf-8")
        else:
            route.fulfill(status=204)  # the texts load nothing and navigate nowhere

    page.add_init_script(_SAY)
    page.route(re.compile(""), answer)

    def see(text: str, turns: int) -> tuple[bool, int]:
        around = "".join(each.replace("{}", text) for each in _AROUND)
        shown[0] = f"<!doctype html><body><script>f = () => 0</script>{around}"
        try:
            page.goto("/shown")
            is_run, foreign = page.evaluate(_SEEN, turns)
        except Error:  # the text navigated away
            return False, 1
        return is_run, foreign

    _, nothing = see("", _TURNS[0])
    for turns in _TURNS:
        for text in [each for each in texts if each not in found]:
            is_run, foreign = see(text, turns)
            if is_run or foreign > nothing:
                found[text] = "runs" if is_run else "is left"
    window.complaints.clear()
    return found
