// The list of tickets: the row that keys act on, and the way back to it.
const rows = () => [...document.querySelectorAll("[data-ticket]")];
const checkbox = (row) => row.querySelector("[name=ticket]");
const linkOf = (row) => row.querySelector("a");
// The list of the page, not one that was loaded beside a ticket.
const OWN_LIST = "#list:not([data-beside] *)";
// Where the list was loaded from. Beside a ticket it is not the address of the page.
let listAddress = location.pathname + location.search;
// An older list does not replace a newer one: they are numbered as they are asked for.
let [askedLists, shownList] = [0, 0];
// The id of the ticket that had the focus last: a field of the bulk bar takes the focus from its row.
let currentId = null;
const currentRow = () => rows().find((row) => checkbox(row).value === currentId);
const markRow = (row) => {
  currentId = row ? checkbox(row).value : null;
  for (const each of rows()) each.classList.toggle("current", each === row);
};
const focusRow = (row) => {
  if (!row) return;
  markRow(row);
  linkOf(row).focus();
};
const stepFrom = (step) => {
  const all = rows();
  focusRow(all[Math.max(0, Math.min(all.indexOf(currentRow()) + step, all.length - 1))]);
};
addEventListener("focusin", ({ target }) => {
  const row = target.closest("[data-ticket]");
  if (row) markRow(row);
});

// The view of the list and the place of a row in it, as the addresses of its neighbours name them.
const placeOf = (row) => {
  const parameters = new URLSearchParams(document.getElementById("list").dataset.query);
  const at = row.dataset.at;
  if (at !== undefined) parameters.set("at", `${at}${at && "_"}${checkbox(row).value}`);
  return parameters;
};

// The tickets that are listed, how many of the view are before them, and how many it has, if that is
// known.
const orderOfList = () => {
  const list = document.getElementById("list");
  const count = document.querySelector(".tabs [aria-current] .count, .views [aria-current] .count");
  const { before, query } = list.dataset;
  const isWhole = before && !list.querySelector(".pager [rel=next]");
  return {
    query: String(new URLSearchParams(query)), before: Number(before),
    ids: before ? rows().map((row) => checkbox(row).value) : [],
    total: isWhole ? String(Number(before) + rows().length) : count?.textContent.trim() ?? list.dataset.total,
  };
};

// The list is where it was when one comes back from a ticket.
const savePlace = () => {
  const row = currentRow();
  if (!document.getElementById("list")) return;
  try {
    sessionStorage.place = JSON.stringify({
      address: listAddress, id: row && checkbox(row).value, top: scrollY,
      at: row && String(placeOf(row)), order: orderOfList(),
    });
  } catch { /* Storage is disabled. */ }
};
addEventListener("pagehide", savePlace);
onPart((part) => {
  try {
    if (part.querySelector("[data-inbox]")) sessionStorage.returning = "yes";
    if (!part.querySelector(OWN_LIST) || !sessionStorage.returning) return;
    delete sessionStorage.returning;
    const place = JSON.parse(sessionStorage.place ?? null);
    if (place?.address !== location.pathname + location.search) return;
    currentId = place.id;
    markRow(currentRow());
    currentRow()?.querySelector("a").focus({ preventScroll: true });
    scrollTo(0, place.top);
  } catch { /* Storage is disabled. */ }
});
