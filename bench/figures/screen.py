"""Measures in Chromium how soon a person sees what was saved, and what others did."""

import time
from contextlib import ExitStack

import msgspec
from playwright.sync_api import Page
from tests.browser.chromium import Window, browsing
from tests.servers import NotHere

from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.figures.pages import set_agent_password
from bench.load.clients import send_all
from bench.load.requests import CREATED, Workload
from bench.load.rounds import ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server

_SAVED = 'a priority is chosen to "Saved" on the screen, median'
_ARRIVED = "a ticket is posted to its row on the screen, median"
_MAX_SAVED_MS, _MAX_ARRIVED_MS = 150, 500
# Pages that show a change rest for half a second, and for longer while changes go on.
_REST_S = 1.2
# Resolves when the next frame has been painted.
_PAINTED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
_SAVE = f"""async (value) => {{
  const group = document.querySelector("[data-field=priority]");
  const [select, state] = ["select", "[data-state]"].map((each) => group.querySelector(each));
  const isSaved = new Promise((done) => new MutationObserver(() => {{
    if (state.querySelector("[data-etag]")) done();
  }}).observe(state, {{ childList: true }}));
  const began = performance.now();
  select.value = value;
  select.dispatchEvent(new Event("change", {{ bubbles: true }}));
  await isSaved;
  await {_PAINTED};
  return performance.now() - began;
}}"""
# Notes the time of day at which each row is on the screen, by the path of its ticket.
_WATCH = f"""() => {{
  window.shownAt = {{}};
  const look = async () => {{
    const links = [...document.querySelectorAll("[data-ticket] a[href]")];
    await {_PAINTED};
    for (const link of links) window.shownAt[link.getAttribute("href")] ??= Date.now();
  }};
  new MutationObserver(look).observe(document.body, {{ childList: true, subtree: true }});
}}"""
# Resolves with the first value that is true; rejects after half a minute.
_POLL = """(find) => new Promise((done, fail) => {
  const began = performance.now();
  const look = () => {
    const found = find();
    if (found) done(found);
    else if (performance.now() - began > 30000) fail(new Error("nothing was shown"));
    else setTimeout(look, 20);
  };
  look();
})"""
_LIVE = f"() => ({_POLL})(isLive)"
_SHOWN_AT = f"(path) => ({_POLL})(() => window.shownAt[path])"


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure on SQLite, in the big tenant. Raises WrongResponse."""
    email, password = set_agent_password(data, {})
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(browsing())
        except NotHere as reason:
            return _build_results([], []).because(reason)
        cores = stack.enter_context(Cores())
        server = stack.enter_context(processes.sealdesk(data.settings, cores))
        window = Window(browser, f"http://127.0.0.1:{server.port}", reduced_motion="reduce")
        window.log_in(email, password)
        show_progress("Chromium: new tickets on the screen")
        arrived = _measure_arrivals(plan, Workload(plan, data), server, window.page)
        show_progress("Chromium: saving a field")
        return _build_results(_measure_saving(plan, window.page), arrived)


def _build_results(saved: list[float], arrived: list[float]) -> Results:
    figures = [
        Figure(_SAVED, "ms", False, _MAX_SAVED_MS, _MAX_SAVED_MS, saved),
        Figure(_ARRIVED, "ms", False, _MAX_ARRIVED_MS, _MAX_ARRIVED_MS, arrived),
    ]
    return Results(figures, {})


def _measure_saving(plan: Plan, page: Page) -> list[float]:
    """Opens the newest ticket of the list, and changes its priority again and again; in ms."""
    page.locator("[data-ticket] a[href]").first.click()
    page.locator("[data-field=priority] select").wait_for()
    values = [("low", "high")[number % 2] for number in range(plan.screen_samples)]
    return [float(page.evaluate(_SAVE, value)) for value in values]


def _measure_arrivals(plan: Plan, workload: Workload, server: Server, page: Page) -> list[float]:
    """Posts tickets while the list is open; the milliseconds from before the request."""
    page.evaluate(_LIVE)
    page.mouse.move(1, 1)  # a list under the pointer is not replaced
    page.evaluate(_WATCH)
    posts = workload.make_posts_in_one_tenant(workload.make_ticket_bodies())
    found = []
    for post in posts(plan.screen_samples):
        time.sleep(_REST_S)
        sent_at_ms = time.time_ns() / 1e6
        response = msgspec.json.decode(send_all(server.port, [post], CREATED, 1).body)
        path = f"/tickets/{response['data']['id']}"
        found.append(page.evaluate(_SHOWN_AT, path) - sent_at_ms)
    return found
