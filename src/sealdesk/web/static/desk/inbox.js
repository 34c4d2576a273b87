// The breadcrumb of a ticket leads back to the filtered list that it was opened from.
onPart((part) => {
  try {
    const back = part.querySelector("[data-inbox]");
    if (part.querySelector(OWN_LIST)) sessionStorage.inbox = location.pathname + location.search;
    else if (back && sessionStorage.inbox) back.href = sessionStorage.inbox;
    const field = part.querySelector("[data-back]");
    if (field) field.value = back.href;
  } catch { /* Storage is disabled. */ }
});

// New tickets are announced while the page is visible, and the list is replaced while it has neither
// focus nor pointer nor selected tickets.
onPart((part, signal) => {
  const arrivals = part.querySelector("[data-poll]");
  if (!arrivals) return;
  const isBusy = () => document.activeElement.closest(".tabs, #list")
    || document.querySelector("#list:hover, #list [name=ticket]:checked");
  const fetchPage = async (address) => {
    const text = await poll(address, arrivals);
    return text === null ? null : parsePage(text);
  };
  const replaceList = async () => {
    const number = askedLists += 1;
    const next = await fetchPage(listAddress);
    if (number < shownList) return true;
    if (!next?.getElementById("list") || isBusy()) return false;
    shownList = number;
    // A marked row stays marked when the list is replaced once more.
    const seen = rows().filter((row) => !row.matches(".fresh"));
    const known = new Set(seen.map((row) => checkbox(row).value));
    for (const part of [".tabs", "#list"]) {
      document.querySelector(part).replaceWith(next.querySelector(part));
    }
    for (const row of rows()) row.classList.toggle("fresh", !known.has(checkbox(row).value));
    arrivals.dataset.poll = next.getElementById("arrivals").dataset.poll;
    localize(document.getElementById("list"));
    if (currentRow()) markRow(currentRow());
    showTicked();
    return true;
  };
  const announce = async () => {
    if (document.hidden) return;
    try {
      const since = arrivals.dataset.poll;
      const notice = (await fetchPage(since))?.querySelector(".notice");
      if (!notice) return;
      if ("renews" in arrivals.dataset && !isBusy() && await replaceList()) {
        notice.className = "visually-hidden";
        notice.textContent = notice.dataset.added;
      } else if (since !== arrivals.dataset.poll || arrivals.innerHTML === notice.outerHTML) return;
      arrivals.replaceChildren(notice);
    } catch { /* No network: try again at the next interval. */ }
  };
  let isBehind = false; // It was in use when something changed.
  const renew = paced(async () => {
    if (document.hidden) return;
    isBehind = "renews" in arrivals.dataset && (isBusy() || !await replaceList());
    if (isBehind || !("renews" in arrivals.dataset)) await announce();
    else arrivals.replaceChildren();
  });
  for (const event of ["pointerover", "focusin"]) {
    addEventListener(event, () => isBehind && !isBusy() && renew(), { signal });
  }
  document.addEventListener("desk:ticket", renew, { signal });
  document.addEventListener("desk:missed", renew, { signal });
  const timer = setInterval(() => {
    if (!isLive() || arrivals.querySelector(".notice")) announce();
  }, 10000);
  signal.addEventListener("abort", () => clearInterval(timer));
  document.addEventListener("visibilitychange", announce, { signal });
});
