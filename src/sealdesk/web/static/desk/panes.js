// On a wide window the ticket stands beside the list, by choice. The choice is a cookie, so that the
// server leaves the place for the second pane from the start.
const WIDE = matchMedia("(min-width: 1100px)");
const beside = document.querySelector("[data-beside]");
const isSplit = () => beside !== null && WIDE.matches;
addEventListener("click", ({ target }) => {
  const button = target.closest("[data-split]");
  if (!button) return;
  const age = button.ariaPressed === "true" ? 0 : 31536000;
  document.cookie = `panes=two; path=/; max-age=${age}; SameSite=Lax`;
  location.reload();
});

const isTicket = (address) => /\/tickets\/([0-9a-f-]{36}|next|previous)$/.test(address.pathname);
const SWAP_WITHIN_MS = 15000;
const main = document.getElementById("content");
// The next ticket is fetched before it is asked for, which marks nothing as read. What is shown of
// it is renewed at once, so it may be some seconds old.
const PREFETCHED_FOR_MS = 60000;
let prefetched = null; // found: a promise of the response, or of null if there is none.
const fetchTicket = async (address, headers = {}) => {
  const signal = AbortSignal.timeout(SWAP_WITHIN_MS);
  const response = await fetch(address, { headers: { accept: "text/html", ...headers }, signal });
  return { url: response.url, status: response.status, page: parsePage(await response.text()) };
};
const prefetchNext = () => {
  const link = document.querySelector("[data-steps]:not([hidden]) [data-key=j]");
  if (!link || document.hidden) return (prefetched = null);
  const found = fetchTicket(link.href, { purpose: "prefetch" }).catch(() => null);
  prefetched = { address: link.href, at: performance.now(), found };
};
// What was fetched before, unless it is old or failed.
const takePrefetched = async (address) => {
  const mine = prefetched;
  prefetched = null;
  if (mine?.address !== address || performance.now() - mine.at > PREFETCHED_FOR_MS) return null;
  const found = await mine.found;
  return found?.page.querySelector("main [data-visited]") ? found : null;
};
document.addEventListener("desk:ticket", async ({ detail }) => {
  const mine = prefetched;
  const found = await mine?.found;
  const shown = document.querySelector("[data-visited]")?.dataset.visited;
  const isAbout = (address) => address?.includes(detail.ticketId);
  if (mine === prefetched && (isAbout(found?.url) || isAbout(shown))) prefetchNext();
});
// What a response says about why its ticket was not opened.
const refusalOf = ({ status, page }) => {
  const { dataset } = document.body;
  const known = { 401: dataset.ended, 403: dataset.forbidden, 404: dataset.gone };
  const isLogIn = page.querySelector("[type=password]") !== null;
  return isLogIn ? dataset.ended : known[status] ?? dataset.unopened;
};
let besideEnding = null;
let besideCount = 0;
// Shows the main content of a page in the second pane; what it says if it is none of ours, and
// nothing if another one was asked for meanwhile.
const loadBeside = async (address) => {
  const mine = besideCount += 1;
  beside.ariaBusy = "true";
  try {
    const early = await takePrefetched(address);
    const response = early ?? await fetchTicket(address);
    if (mine !== besideCount) return {};
    const content = response.page.querySelector("main");
    if (!content?.querySelector("[data-visited], #list")) return { refusal: refusalOf(response) };
    besideEnding?.abort();
    beside.scrollTo(0, 0); // Before the change: after it the page would be laid out for this.
    beside.replaceChildren(...content.childNodes);
    besideEnding = startPart(beside);
    if (early) document.dispatchEvent(new CustomEvent("desk:early"));
    requestAnimationFrame(() => setTimeout(prefetchNext));
    return { address: response.url, title: response.page.title };
  } catch {
    return mine === besideCount ? { refusal: document.body.dataset.unopened } : {};
  } finally {
    if (mine === besideCount) beside.ariaBusy = null;
  }
};
// Shows another ticket, for which keys pressed meanwhile are held. show: says whether it did.
const READ_MS = 1000;
let shownCount = 0;
// The browser's Back changes the address before anything is shown.
let shownAddress = location.href;
let shownEntry = window.navigation?.currentEntry; // Its index follows the history.
const noteShown = () => {
  shownAddress = location.href;
  shownEntry = window.navigation?.currentEntry;
};
// Goes to the entry of what is shown, which keeps those behind it, then does the work.
const restoreAddress = (work = () => {}) => {
  const steps = shownEntry?.index >= 0 ? shownEntry.index - navigation.currentEntry.index : 0;
  if (!steps) {
    history.pushState(null, "", shownAddress);
    return work();
  }
  addEventListener("popstate", (event) => {
    event.stopImmediatePropagation();
    work();
  }, { once: true, capture: true });
  history.go(steps);
};
const showNext = async (isNew, show) => {
  const mine = shownCount += 1;
  const isLatest = () => mine === shownCount;
  holdKeys();
  const isShown = await show(isLatest);
  if (isShown) noteShown();
  else if (!isNew && isLatest()) restoreAddress();
  const release = () => isLatest() && releaseKeys(isShown);
  // Keys of somebody who has not read why there is none are not meant for the old ticket.
  if (isShown) release();
  else setTimeout(release, READ_MS);
};
// What is on its way is not shown any more.
const keepShown = () => {
  shownCount += 1;
  noteShown();
  releaseKeys(false);
};
// A page with something unsaved asks before it is left, which the browser does on the way to another page.
const mayLeave = () => dispatchEvent(new Event("beforeunload", { cancelable: true }));
const mayGoBack = () => {
  const address = location.href;
  if (mayLeave()) return true;
  restoreAddress(() => {
    keepShown();
    location.assign(address);
  });
  return false;
};
// An address may lead into the reply or the note of its ticket; whether it does.
const LEADS = { "#reply": "r", "#note": "n" };
const enter = (pane, address) => {
  const control = pane.querySelector(`[data-leads][data-key=${LEADS[new URL(address).hash]}]`);
  if (control) pressControl(control);
  return control !== null;
};
const openBeside = (address, isNew) => showNext(isNew, async () => {
  const shown = await loadBeside(address);
  if (shown.refusal) say(shown.refusal);
  if (!shown.address) return false;
  if (isNew) history.pushState(null, "", shown.address);
  document.title = shown.title;
  const id = new URL(shown.address).pathname.split("/").pop();
  markRow(rows().find((row) => checkbox(row).value === id));
  enter(beside, address) || leave(beside);
  return true;
});
// A ticket of the list: beside it, or in its place.
const openTicket = (address) => {
  if (!beside) swapMain(address, true);
  else if (beside.dataset.beside === "ticket" && isSplit()) openBeside(address, true);
  else location.assign(address);
};
if (beside?.dataset.beside === "ticket") {
  const listTitle = document.title;
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isSplit() || !isPlain || event.defaultPrevented) return;
    if (link.matches("[data-inbox]") && beside.contains(link)) {
      event.preventDefault();
      (currentRow() ? linkOf(currentRow()) : document.getElementById("content")).focus();
    } else if (isTicket(link) && link.closest("[data-ticket], [data-beside]") && mayLeave()) {
      event.preventDefault();
      openBeside(link.href, true);
    }
  });
  addEventListener("popstate", () => {
    const shown = beside.querySelector("[data-visited]")?.dataset.visited;
    besideCount += 1;
    beside.ariaBusy = null;
    if (shown === location.pathname) return keepShown();
    if (!mayGoBack()) return;
    if (isTicket(location) && isSplit()) openBeside(location.href, false);
    else if (!isOwnList(location)) location.reload();
    else {
      keepShown();
      besideEnding?.abort();
      beside.replaceChildren();
      document.title = listTitle;
      leave(main);
    }
  });
} else if (beside) {
  onPart((part) => {
    if (part !== document || !isSplit()) return;
    let address = beside.dataset.list;
    try {
      address = sessionStorage.inbox ?? address;
    } catch { /* Storage is disabled. */ }
    listAddress = address;
    loadBeside(address).then(() => {
      const id = location.pathname.split("/").pop();
      markRow(rows().find((row) => checkbox(row).value === id));
      aimSteps(document); // The ticket has its place in the list now.
    });
  });
}

// A ticket takes the place of the one that is shown, or of the list, and the list with which the page
// began that of a ticket.
const isOwnList = ({ pathname, search }) => pathname + search === listAddress;
let mainEnding = null; // Null while the first ticket is shown.
const showInMain = (page, address, isNew) => {
  for (const each of document.querySelectorAll("dialog[open]")) each.close(); // About what is left.
  if (isNew) savePlace();
  const left = main.querySelector("[data-visited]")?.dataset.visited;
  (mainEnding ?? pageEnding).abort();
  scrollTo(0, 0);
  main.replaceChildren(...page.querySelector("main").childNodes);
  const [skips, next] = [document, page].map((each) => [...each.querySelectorAll(".skip + .skip")]);
  document.querySelector(".skip").after(...next);
  for (const each of skips) each.remove();
  if (isNew) history.pushState(null, "", address);
  document.title = page.title;
  mainEnding = startPart(main);
  const id = (isTicket(location) ? location.pathname : left)?.split("/").pop();
  const row = rows().find((each) => checkbox(each).value === id);
  if (row) markRow(row);
  if (row && main.contains(row)) row.scrollIntoView({ block: "nearest" });
};
const swapMain = (address, isNew) => showNext(isNew, async (isLatest) => {
  try {
    const early = await takePrefetched(address);
    const response = early ?? await fetchTicket(address);
    if (!isLatest()) return false; // Another one was asked for meanwhile.
    const { page, url } = response;
    const isList = page.querySelector("#list") !== null;
    if (page.querySelector("main [data-visited]") || isList && isOwnList(new URL(url))) {
      if (isList) shownList = askedLists += 1; // An older one may be on its way.
      showInMain(page, url, isNew);
      enter(main, address) || leave(main);
      if (early) document.dispatchEvent(new CustomEvent("desk:early"));
      requestAnimationFrame(() => setTimeout(prefetchNext));
      return true;
    }
    if (isList) location.assign(url); // The end of the view.
    else say(refusalOf(response));
  } catch {
    if (isLatest()) say(document.body.dataset.unopened);
  }
  return false;
});
addEventListener("click", (event) => {
  const link = event.target.closest("main [data-steps] a, #list [data-ticket] a, main [data-inbox]");
  if (!link || event.defaultPrevented || beside && link.closest("#list")) return;
  if (link.matches("[data-inbox]") && !isOwnList(link)) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (!mayLeave()) return;
  event.preventDefault();
  swapMain(link.href, true);
});
addEventListener("popstate", () => {
  if (beside?.dataset.beside === "ticket") return;
  const shown = main.querySelector("[data-visited]")?.dataset.visited;
  // It is shown still, or a fragment of it leads to a place on it.
  if (shown ? shown === location.pathname : !isTicket(location)) return keepShown();
  savePlace(); // Before the browser scrolls.
  if (!mayGoBack()) return;
  if (isTicket(location) || isOwnList(location)) swapMain(location.href, false);
  else location.reload();
});

// Which ticket of the view it is, from 1: by the list, or as its neighbour was counted; 0 if not known.
const numberOf = (id, order, parameters) => {
  const view = new URLSearchParams(parameters);
  for (const each of ["at", "n", "before"]) view.delete(each);
  if (order?.query !== String(view)) return 0;
  const index = order.ids.indexOf(id);
  return index < 0 ? Number(parameters.get("n")) : order.before + index + 1;
};
// The links to the next and the previous ticket: in the view and at the place in it that the address
// names, or that the list named when the ticket was opened.
const aimSteps = (part) => {
  for (const nav of part.querySelectorAll("[data-steps]")) {
    const heading = nav.closest("main, [data-beside]").querySelector("[data-visited]");
    const id = heading.dataset.visited.split("/").pop();
    let order = null;
    let parameters = new URLSearchParams(nav.querySelector("a").search); // From the server.
    try {
      const row = rows().find((each) => checkbox(each).value === id);
      const place = JSON.parse(sessionStorage.place ?? null);
      order = rows().length ? orderOfList() : place?.order;
      if (row) parameters = placeOf(row);
      else if (!parameters.has("at") && place?.id === id && place.at) {
        parameters = new URLSearchParams(place.at);
      }
    } catch { /* Storage is disabled. */ }
    const says = nav.querySelector(".place");
    const number = numberOf(id, order, parameters);
    says.textContent = number && order.total
      ? [number, order.total].reduce((text, each) => text.replace("{}", each), says.dataset.says) : "";
    parameters.delete("before");
    if (number) parameters.set("n", number);
    const place = nav.closest("main, [data-beside]").querySelector("#composer")?.elements.in;
    if (place && parameters.has("at")) place.value = parameters;
    nav.hidden = !parameters.has("at");
    for (const link of nav.querySelectorAll("a")) link.search = parameters;
  }
};
onPart(aimSteps);
onPart((part) => {
  if (part === document) setTimeout(prefetchNext);
});
