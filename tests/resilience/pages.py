"""Every page in a browser: hundreds of XSS texts, and the accessibility rules."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from sealdesk.db.migrations import schema_version
from tests.browser.chromium import Window, browsing
from tests.browser.crawler import Visit
from tests.browser.page_checks import Accessibility, Looker
from tests.browser.xss_live import alive
from tests.browser.xss_payloads import CORPUS, LIVE
from tests.browser.xss_stored import columns
from tests.browser.xss_texts import Texts
from tests.resilience.figures import Progress, Target, no_progress
from tests.support.databases import on_sqlite
from tests.support.receiver import LOOPBACK, receiving
from tests.support.service import Service

XSS_TARGETS = (
    Target("texts", "≥", 500),
    Target("alive", "≥", 400),
    Target("not_alive", "=", 0),
    Target("missing_in_a_field", "=", 0),
    Target("run", "=", 0),
    Target("held_back_by_policy", "=", 0),
    Target("taken_for_HTML", "=", 0),
    Target("other_complaints", "=", 0),
)
# Four times each of the 77 pages and form responses of 2026-11; fewer means that some were missed.
ACCESSIBILITY_TARGETS = (Target("times_all_rules", "≥", 280), Target("found", "=", 0))
_AT_ONCE = 33
_KINDS = {
    "run": ("a dialog:",),
    "held_back_by_policy": ("Content Security Policy",),
    "taken_for_HTML": ("foreign:", "worked out as a template"),
}


def xss(*, progress: Progress = no_progress) -> dict[str, Any]:
    """Put all texts of the corpus into every field of every page, some at a time; the figures."""
    began_at, fields, pages, missing, found = time.monotonic(), set[str](), 0, 0, list[str]()
    with _desk() as (browser, desk), receiving() as receiver:
        observed = alive(Window(browser, desk.url), LIVE)
        looker = _looker(browser, desk, "none")
        for first in range(0, len(CORPUS), _AT_ONCE):
            texts = Texts(CORPUS[first : first + _AT_ONCE])
            visit = Visit(looker, desk, receiver, texts).make(asked=texts.parts())
            fields |= visit.fields
            missing += len(visit.lacking)
            found += visit.found
            progress(first + len(texts.payloads), len(CORPUS))
        pages = looker.looks["pages"]
    return {
        "texts": len(CORPUS),
        "alive": len(observed),
        "run_by_themselves": sum(how == "runs" for how in observed.values()),
        "not_alive": len(LIVE) - len(observed),
        "fields_stored": len(columns()),
        "fields_of_forms": len(fields),
        "missing_in_a_field": missing,
        "pages": pages,
        **_counted(found),
        "first_found": found[:3],
        "seconds": round(time.monotonic() - began_at, 1),
    }


def accessibility(*, progress: Progress = no_progress) -> dict[str, Any]:
    """Run all rules of axe-core on every page, in both themes and both widths; the figures."""
    began_at = time.monotonic()
    with _desk() as (browser, desk), receiving() as receiver:
        looker, texts = _looker(browser, desk, "all"), Texts()
        asked = [next(texts.parts())]
        found = Visit(looker, desk, receiver, texts).make(asked=asked, besides=["/docs"]).found
    progress(1, 1)
    return {
        "pages": looker.looks["pages"],
        "times_all_rules": looker.looks["accessibility"],
        "found": len(found),
        "first_found": found[:3],
        "seconds": round(time.monotonic() - began_at, 1),
    }


@contextmanager
def _desk() -> Iterator[tuple[Browser, Service]]:
    with tempfile.TemporaryDirectory() as directory, browsing() as browser:
        template = Path(directory) / "template.db"
        schema_version.ensure_current(template)
        with on_sqlite(template)(Path(directory) / "data", **LOOPBACK) as service:
            yield browser, service


def _looker(browser: Browser, desk: Service, accessibility_checks: Accessibility) -> Looker:
    return Looker(Window(browser, desk.url, reduced_motion="reduce"), accessibility_checks)


def _counted(found: list[str]) -> dict[str, int]:
    """How often each kind of fault was found."""
    counts = dict.fromkeys((*_KINDS, "other_complaints"), 0)
    for each in found:
        kinds = (kind for kind, signs in _KINDS.items() if any(sign in each for sign in signs))
        counts[next(kinds, "other_complaints")] += 1
    return counts
