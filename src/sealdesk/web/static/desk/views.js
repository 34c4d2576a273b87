// The counts of the views follow the tickets: at most every five seconds, and while the page is seen.
const sidebar = document.querySelector("nav[data-views]");
if (sidebar) {
  const PAUSE_MS = 5000;
  let lastAt = 0;
  let waiting = null;
  const refresh = async () => {
    waiting = null;
    if (document.hidden) return;
    lastAt = Date.now();
    try {
      const response = await fetch(sidebar.dataset.views, { redirect: "manual" });
      if (!response.ok) return;
      const next = parsePage(await response.text());
      for (const count of next.querySelectorAll(".count")) {
        const address = count.parentNode.getAttribute("href");
        const shown = sidebar.querySelector(`a[href="${CSS.escape(address)}"] .count`);
        if (shown && shown.textContent !== count.textContent) shown.textContent = count.textContent;
      }
    } catch { /* No network: the next event tries again. */ }
  };
  const refreshSoon = () => {
    waiting ??= setTimeout(refresh, Math.max(0, lastAt + PAUSE_MS - Date.now()));
  };
  document.addEventListener("desk:ticket", refreshSoon);
  document.addEventListener("visibilitychange", refreshSoon);
  setInterval(refreshSoon, 30000);
  if ("uncounted" in sidebar.dataset) refreshSoon();
}

// A filter applies when it is chosen. The list is a new page, on which the same filter has the focus.
onPart((part) => {
  for (const form of part.querySelectorAll("form[data-applies]")) {
    form.querySelector("button").hidden = true;
    form.addEventListener("formdata", ({ formData }) => {
      for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
    });
    form.addEventListener("change", ({ target }) => {
      try {
        sessionStorage.filter = target.name;
      } catch { /* Storage is disabled. */ }
      form.requestSubmit();
    });
    try {
      const field = form.elements[sessionStorage.filter];
      if (field?.closest("details")) field.closest("details").open = true;
      field?.focus({ preventScroll: true });
      sessionStorage.removeItem("filter");
    } catch { /* Storage is disabled. */ }
  }
});

// Pop-ups that open without scripts close when one goes on elsewhere.
const POP_UPS = ".filter, .sends details";
for (const event of ["click", "focusin"]) {
  addEventListener(event, ({ target }) => {
    for (const each of document.querySelectorAll(POP_UPS)) {
      if (each.open && !each.contains(target)) each.open = false;
    }
  });
}
