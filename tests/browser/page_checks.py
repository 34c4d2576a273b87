"""What is wrong with a page as it stands in a browser: foreign elements, complaints, barriers."""

import itertools
from typing import Literal

from playwright.sync_api import Page

from tests.browser.chromium import Window
from tests.browser.xss_texts import SUM, WORKED_OUT
from tests.interop import packages

# Pages are checked in the one and the other by turns.
_LIGHT, _DARK = ("light", 1280), ("dark", 390)
_ALL = tuple(itertools.product(("light", "dark"), (1280, 390)))
# Some: in one theme and width, which the next page is not in. All: in all four.
Barriers = Literal["none", "some", "all"]
# What a text would leave in a page if it were taken for HTML, whether it may run or not; and
# everything that is folded away is opened, to be looked at as well.
FOREIGN = """() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  if (location.pathname.startsWith("/docs")) return []; // No text of anybody stands there.
  const known = new Set(("html head meta title link script body a header img nav form input"
    + " button main footer section div span p h1 h2 h3 ul ol li dl dt dd strong code pre bdi time"
    + " label select option textarea fieldset legend article aside details summary dialog kbd"
    + " table caption thead tbody tr th td figure figcaption svg g rect del ins br noscript"
  ).split(" "));
  const own = (address) => URL.parse(address, document.baseURI)?.origin === location.origin;
  const isOurs = (each) => known.has(each.localName)
    && [...each.attributes].every(({ name }) => !/^(on|style$|srcdoc$|formaction$)/.test(name))
    && (each.localName !== "script" || /^\\/assets\\/desk\\.js\\?/.test(each.getAttribute("src")))
    && (each.localName !== "link" || ["icon", "stylesheet"].includes(each.rel) && own(each.href))
    && (each.localName !== "img" || /^\\/assets\\//.test(each.getAttribute("src")))
    && (each.localName !== "a" || own(each.href)
      || /^https?:/.test(each.href) && each.rel.includes("noopener"))
    && (each.localName !== "form" || own(each.getAttribute("action")))
    && (each.localName !== "meta" || each.httpEquiv === "");
  return [...document.querySelectorAll("*")].filter((each) => !isOurs(each))
    .map((each) => `foreign: ${each.outerHTML.slice(0, 200)}`);
}"""
_BARRIERS = """async (theme) => {
  const found = [], width = document.documentElement.scrollWidth;
  if (width > innerWidth) found.push(`is ${width} wide at ${innerWidth}`);
  const about = { resultTypes: ["violations"], preload: false };
  for (const each of (await axe.run(about)).violations) {
    found.push(`${theme}: ${each.impact} ${each.id}: ${each.nodes[0].html.slice(0, 150)}`);
  }
  return found;
}"""
_SAID = """([sum, worked_out]) => {
  const typed = [...document.querySelectorAll("input, textarea")].map((each) => each.value);
  const said = [document.title, document.body.textContent, ...typed].join(" ");
  return [said.includes(sum), said.includes(worked_out)];
}"""
# In one breath, for each question takes its time on the way.
_LOOK = f"""async ([said, asked]) => [
  ({FOREIGN})(), ({_SAID})(said), asked ? await ({_BARRIERS})(asked) : []
]"""


def foreign(page: Page) -> list[str]:
    """What no template of ours puts into a page."""
    return list(page.evaluate(FOREIGN))


class Looker:
    """Looks at the pages of a window, one after the other."""

    def __init__(self, window: Window, barriers: Barriers = "some") -> None:
        self.window = window
        self.page = window.page
        self.says_it = False  # whether a hostile text stands in the page, as a text
        self.looks = {"pages": 0, "barriers": 0}
        self._barriers = barriers
        self._stands = _LIGHT
        self._asked: list[str] = []
        window.context.add_init_script(path=packages() / "node_modules" / "axe-core" / "axe.min.js")
        self.page.on("request", lambda request: self._asked.append(request.url))

    def go(self, path: str) -> list[str]:
        """What is wrong with the page at an address."""
        answer = self.page.goto(path)
        assert answer is not None and answer.status < 500, path
        return self.look(path)

    def look(self, name: str, *, for_barriers: bool = True) -> list[str]:
        """What is wrong with the page as it stands, in light and dark, narrow and wide."""
        barriers = self._barriers if for_barriers else "none"
        asked = self._stands[0] if barriers == "some" else None
        strange, (self.says_it, is_worked_out), met = self.page.evaluate(
            _LOOK, [[SUM, WORKED_OUT], asked]
        )
        self.looks["pages"] += 1
        found = [*strange, *met, *self._complaints()]
        if is_worked_out:
            found.append("a text is worked out as a template")
        if barriers == "some":
            self._turn(_LIGHT if self._stands == _DARK else _DARK)
        for look in _ALL if barriers == "all" else ():
            found += self._met(look)
        return [f"{name[:200]}: {each}" for each in found]

    def _met(self, look: tuple[str, int]) -> list[str]:
        """The barriers in a theme and a width."""
        self._turn(look)
        self.looks["barriers"] += 1
        return list(self.page.evaluate(_BARRIERS, look[0]))

    def _turn(self, look: tuple[str, int]) -> None:
        self._stands = theme, width = look
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]

    def _complaints(self) -> list[str]:
        here = self.page.url.partition("//")[2].partition("/")[0]
        foreign = [f"asks {each}" for each in self._asked if f"//{here}/" not in each]
        found = [*self.window.complaints, *foreign]
        self.window.complaints.clear()
        self._asked.clear()
        return found
