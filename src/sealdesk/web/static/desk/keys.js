// Users of speech input can turn single-key shortcuts off (WCAG 2.1.4).
const areShortcutsOff = () => {
  try {
    return localStorage.shortcuts === "off";
  } catch { return false; }
};
for (const box of document.querySelectorAll("[data-shortcuts]")) {
  box.checked = !areShortcutsOff();
  box.addEventListener("change", () => {
    try {
      localStorage.shortcuts = box.checked ? "on" : "off";
    } catch { /* Storage is disabled. */ }
  });
}

// Keyboard shortcuts of the ticket list. The rows are queried each time, as the list is replaced.
const rows = () => [...document.querySelectorAll("[data-ticket]")];
const checkbox = (row) => row.querySelector("input");
const isOrdinaryKey = (event) => event.ctrlKey || event.metaKey || event.altKey || areShortcutsOff()
  || event.target.closest("input:not([type=checkbox]), textarea, select, dialog[open]");
addEventListener("keydown", (event) => {
  if (isOrdinaryKey(event)) return;
  const tickets = rows();
  const current = tickets.findIndex((row) => row.contains(document.activeElement));
  const link = tickets[current]?.querySelector("a");
  const focus = (index) => tickets[Math.max(0, Math.min(index, tickets.length - 1))]
    ?.querySelector("a").focus();
  const action = {
    j: () => focus(current + 1),
    k: () => focus(current - 1),
    x: link && (() => checkbox(tickets[current]).click()),
    r: link && (() => location.assign(`${link.href}#reply`)),
    "/": () => document.querySelector("[data-find]")?.focus(),
    "?": () => document.getElementById("keys")?.showModal(),
  }[event.key];
  if (action) {
    event.preventDefault();
    action();
  } else if (link && event.key === "Enter"
    && document.activeElement === checkbox(tickets[current])) {
    event.preventDefault();
    link.click();
  }
});
const showSelectAll = () => document.querySelector("[data-all]")?.removeAttribute("hidden");
showSelectAll();
addEventListener("change", ({ target }) => {
  if (!target.closest("[data-all]")) return;
  for (const row of rows()) checkbox(row).checked = target.checked;
});
for (const button of document.querySelectorAll("[data-opens]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}
for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
