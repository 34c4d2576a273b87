"""Checks of a page in a browser: foreign elements, console errors, accessibility rules."""

import itertools
from typing import Literal

from playwright.sync_api import Page

from tests.browser.chromium import Window
from tests.browser.xss_texts import SUM, WORKED_OUT
from tests.interop import packages

# Pages are checked in the one and the other by turns.
_LIGHT, _DARK = ("light", 1280), ("dark", 390)
# Some: in one theme and width, which the next page is not in. Both: in those two. All: in all four.
Accessibility = Literal["none", "some", "both", "all"]
_SEVERAL = {"both": (_LIGHT, _DARK), "all": (*itertools.product(("light", "dark"), (1280, 390)),)}
# What templates are made of.
OUR_ELEMENTS = (
    "html head meta title link script body a header img nav form input button main footer "
    "section div span p h1 h2 h3 ul ol li dl dt dd strong code pre bdi time label select "
    "option textarea fieldset legend article aside details summary dialog kbd table caption "
    "thead tbody tr th td figure figcaption svg g rect line polyline polygon text del ins br "
    "noscript mark progress blockquote em hr datalist"
)
# Elements that a text would leave in a page if it were taken for HTML, whether it may run or not.
# Everything that is folded away is opened, to be checked as well.
FOREIGN = f"""() => {{
  for (const each of document.querySelectorAll("details")) each.open = true;
  if (location.pathname.startsWith("/docs")) return []; // No user's text is shown there.
  const known = new Set("{OUR_ELEMENTS}".split(" "));
  const own = (address) => URL.parse(address, document.baseURI)?.origin === location.origin;
  const isOurs = (each) => known.has(each.localName)
    && [...each.attributes].every(({{ name }}) => !/^(on|style$|srcdoc$)/.test(name))
    && (!each.hasAttribute("formaction") || own(each.getAttribute("formaction")))
    && (each.localName !== "script" || /^\\/assets\\/desk\\.js\\?/.test(each.getAttribute("src")))
    && (each.localName !== "link"
      || ["icon", "preload", "stylesheet"].includes(each.rel) && own(each.href))
    && (each.localName !== "img" || /^\\/(assets|attachments)\\//.test(each.getAttribute("src")))
    && (each.localName !== "a" || own(each.href)
      || /^https?:/.test(each.href) && each.rel.includes("noopener"))
    && (each.localName !== "form" || own(each.getAttribute("action")))
    && (each.localName !== "meta" || each.httpEquiv === "");
  return [...document.querySelectorAll("*")].filter((each) => !isOurs(each))
    .map((each) => `foreign: ${{each.outerHTML.slice(0, 200)}}`);
}}"""
_ACCESSIBILITY = """async (theme) => {
  const found = [], width = document.documentElement.scrollWidth;
  if (width > innerWidth) found.push(`is ${width} wide at ${innerWidth}`);
  const about = { resultTypes: ["violations"], preload: false };
  for (const each of (await axe.run(about)).violations) {
    found.push(`${theme}: ${each.impact} ${each.id}: ${each.nodes[0].html.slice(0, 150)}`);
  }
  return found;
}"""
_FIND_TEXTS = """([sum, worked_out]) => {
  const typed = [...document.querySelectorAll("input, textarea")].map((each) => each.value);
  const said = [document.title, document.body.textContent, ...typed].join(" ");
  return [said.includes(sum), said.includes(worked_out)];
}"""
# One call, because each round trip to the browser takes time.
_CHECKS = f"""async ([said, asked]) => [
  ({FOREIGN})(), ({_FIND_TEXTS})(said), asked ? await ({_ACCESSIBILITY})(asked) : []
]"""


def foreign(page: Page) -> list[str]:
    """Elements that no template of ours puts into a page."""
    return list(page.evaluate(FOREIGN))


class Looker:
    """Checks the pages of a window, one after the other."""

    def __init__(self, window: Window, accessibility: Accessibility = "some") -> None:
        self.window = window
        self.page = window.page
        self.shows_text = False  # whether the page shows a hostile text as text
        self.looks = {"pages": 0, "accessibility": 0}
        self._accessibility = accessibility
        self._current = _LIGHT
        self._asked: list[str] = []
        if accessibility != "none":
            window.load_once(packages() / "node_modules" / "axe-core" / "axe.min.js")
        self.page.on("request", lambda request: self._asked.append(request.url))

    def go(self, path: str) -> list[str]:
        """What is wrong with the page at an address."""
        answer = self.page.goto(path)
        assert answer is not None and answer.status < 500, path
        return self.look(path)

    def look(self, name: str, *, for_accessibility: bool = True) -> list[str]:
        """What is wrong with the page that is open; the page is not loaded again."""
        accessibility = self._accessibility if for_accessibility else "none"
        asked = self._current[0] if accessibility == "some" else None
        strange, (self.shows_text, is_worked_out), met = self.page.evaluate(
            _CHECKS, [[SUM, WORKED_OUT], asked]
        )
        self.looks["pages"] += 1
        found = [*strange, *met, *self._complaints()]
        if is_worked_out:
            found.append("a text is worked out as a template")
        if accessibility == "some":
            self._switch(_LIGHT if self._current == _DARK else _DARK)
        for look in _SEVERAL.get(accessibility, ()):
            found += self._violations(look)
        return [f"{name[:200]}: {each}" for each in found]

    def _violations(self, look: tuple[str, int]) -> list[str]:
        """Violations of the accessibility rules in a theme and a width."""
        self._switch(look)
        self.looks["accessibility"] += 1
        return list(self.page.evaluate(_ACCESSIBILITY, look[0]))

    def _switch(self, look: tuple[str, int]) -> None:
        self._current = theme, width = look
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]

    def _complaints(self) -> list[str]:
        here = self.page.url.partition("//")[2].partition("/")[0]
        foreign = [f"asks {each}" for each in self._asked if f"//{here}/" not in each]
        found = [*self.window.complaints, *foreign]
        self.window.complaints.clear()
        self._asked.clear()
        return found
