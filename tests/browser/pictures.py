"""Small pictures of pages, and how much of them has changed (decision 0135)."""

import base64
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from tests.browser import screenshots
from tests.support.service import Service

PLACE = Path(__file__).with_name("pictures")
THEMES = ("light", "dark")
SIZES = ((1440, 900), (1024, 768), (390, 844))
LOOKS = [*itertools.product(THEMES, SIZES)]
# Of the pixels of a picture. Another version of Chromium draws the edges of letters anew; a field
# that is 4 px higher, or another accent, changes 0.2 % and more (2026-11-29).
MOST_CHANGED = 0.001
_AGAIN = 3  # as a font may come late
_PATHS = {
    "inbox": "/tickets?status=all",
    "inbox-filtered": "/tickets?priority=high&tag=order&sort=due",
    "inbox-search": "/tickets?q=glaze",
    "ticket": "/tickets/{ticket}",
    "ticket-new": "/tickets/new",
    "ticket-history": "/tickets/{ticket}/history",
    "customers": "/customers",
    "notifications": "/notifications",
    "team-now": "/team-now",
    "reports": "/reports?period=month",
    "views": "/tickets/views",
    "people": "/settings/people",
    "teams": "/settings/teams",
    "business-hours": "/settings/business-hours",
    "sla-policy": "/settings/sla-policies/new",
    "macros": "/settings/macros",
    "rule": "/settings/rules/new",
    "rules": "/settings/rules",
    "custom-fields": "/settings/custom-fields",
    "tags": "/settings/tags",
    "api-key": "/settings/api-keys/{key}",
    "webhook": "/settings/webhooks/new",
    "audit": "/settings/audit?action=user.created",
    "account": "/account",
    "missing": "/missing",
}
# What differs each time: colours of people, parts of keys, ids and addresses with ports.
_STYLE = """
.avatar, .face { --hue: 190 !important; }
main :is(code, pre) { color: transparent !important; }
"""
# A script asks for the counts of the views where the page has none.
_HAS_COUNTS = """() => !document.querySelector("[data-uncounted]")
  || document.querySelector("[href$='view=unassigned'] .count").textContent"""
_SHRINK = """async (png) => {
  const whole = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(whole.width / 4, whole.height / 4);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(whole, 0, 0, canvas.width, canvas.height);
  const small = await canvas.convertToBlob({ type: "image/webp", quality: 0.6 });
  return btoa(String.fromCharCode(...new Uint8Array(await small.arrayBuffer())));
}"""
# The share of pixels of which a colour differs by more than 10 of 255.
_COMPARE = """async (pictures) => {
  const [before, after] = await Promise.all(pictures.map(async (webp) => {
    const blob = await (await fetch(`data:image/webp;base64,${webp}`)).blob();
    const picture = await createImageBitmap(blob);
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, picture.width, picture.height);
  }));
  if (before.width !== after.width || before.height !== after.height) return 1;
  let changed = 0;
  for (let at = 0; at < before.data.length; at += 4) {
    const isChanged = (place) => Math.abs(before.data[place] - after.data[place]) > 10;
    changed += isChanged(at) || isChanged(at + 1) || isChanged(at + 2);
  }
  return changed / (before.width * before.height);
}"""


class Changed(NamedTuple):
    """A page that does not look as before. picture: as it looks now."""

    name: str
    share: float
    picture: bytes


def find_changed(
    browser: Browser, service: Service, ids: dict[str, str], theme: str, size: tuple[int, int]
) -> list[Changed]:
    """The pages that do not look as their pictures, or have none."""
    found = []
    with _opened(browser, service, theme, size) as (page, canvas):
        page.goto(_PATHS["ticket"].format_map(ids))  # which is read from now on
        for name, path in _PATHS.items():
            stored = _file(name, theme, size)
            before = stored.read_bytes() if stored.exists() else None
            for _ in range(_AGAIN if before else 1):
                picture = _take(page, canvas, path.format_map(ids))
                share = _compare(canvas, before, picture) if before else 1.0
                if share <= MOST_CHANGED:
                    break
            else:
                found.append(Changed(stored.stem, share, picture))
    return found


def take_all(browser: Browser, service: Service, ids: dict[str, str]) -> Iterator[Path]:
    """Take the pictures that have changed anew; their files."""
    PLACE.mkdir(exist_ok=True)
    for theme, size in LOOKS:
        for each in find_changed(browser, service, ids, theme, size):
            file = PLACE / f"{each.name}.webp"
            file.write_bytes(each.picture)
            yield file


@contextmanager
def _opened(
    browser: Browser, service: Service, theme: str, size: tuple[int, int]
) -> Iterator[tuple[Page, Page]]:
    """A page with a session, and one that works on pictures."""
    how = {"bypass_csp": True, "reduced_motion": "reduce"}
    size_of = {"width": size[0], "height": size[1]}
    with screenshots.opened(
        browser, service, screenshots.ADMIN_EMAIL, theme, viewport=size_of, **how
    ) as window:
        canvas = window.context.new_page()
        window.page.bring_to_front()
        yield window.page, canvas


def _take(page: Page, canvas: Page, path: str) -> bytes:
    page.goto(path)
    page.wait_for_function(_HAS_COUNTS)
    page.evaluate("document.fonts.ready.then(() => document.activeElement?.blur())")
    png = page.screenshot(animations="disabled", caret="hide", style=_STYLE)
    return base64.b64decode(canvas.evaluate(_SHRINK, base64.b64encode(png).decode()))


def _compare(canvas: Page, before: bytes, after: bytes) -> float:
    """Which share of the pixels differs."""
    return float(
        canvas.evaluate(_COMPARE, [base64.b64encode(each).decode() for each in (before, after)])
    )


def _file(name: str, theme: str, size: tuple[int, int]) -> Path:
    return PLACE / f"{name}-{theme}-{size[0]}.webp"
