// Progressive enhancement of the pages: everything works without scripts.

// Times in the browser's time zone, in the page's language and the browser's region.
const language = document.documentElement.lang;
const region = navigator.languages.find((each) => each.startsWith(language)) ?? language;
const longFormat = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "short" });
// Logs show seconds.
const logFormat = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "medium" });
// Lists show the time for today, the day for this year, else the date.
const formatShort = (at, now = new Date()) => at.toLocaleString(region,
  at.toDateString() === now.toDateString() ? { timeStyle: "short" }
    : at.getFullYear() === now.getFullYear() ? { day: "numeric", month: "short" }
      : { dateStyle: "medium" });
const localize = (part) => {
  for (const time of part.querySelectorAll("time[datetime]")) {
    time.title = time.textContent.trim();
    const at = new Date(time.dateTime);
    const style = time.closest(".dense") ? logFormat : longFormat;
    time.textContent = time.matches(".when") ? formatShort(at) : style.format(at);
  }
};
localize(document);

// Date and time fields show the browser's time zone and are sent in UTC.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const input of document.querySelectorAll("input[data-utc]")) {
  const hint = document.getElementById(`${input.id}-hint`);
  hint.textContent = hint.textContent.replace("In UTC", `In ${zone}`);
  const at = new Date(`${input.value}Z`);
  if (input.value) {
    input.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  }
  input.form.addEventListener("formdata", ({ formData }) => {
    if (input.value) formData.set(input.name, new Date(input.value).toISOString());
  });
}

// A page that follows a POST, such as one with a secret: a reload loads another address instead of
// sending the form again.
const afterPost = document.querySelector("[data-address]");
if (afterPost) history.replaceState(null, "", afterPost.dataset.address);

// Copy buttons. The clipboard API exists only on https and localhost; elsewhere execCommand.
async function copy(element) {
  if (navigator.clipboard) return navigator.clipboard.writeText(element.textContent);
  getSelection().selectAllChildren(element);
  if (!document.execCommand("copy")) throw new Error("The text stays selected.");
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await copy(document.getElementById(button.dataset.copy));
    } catch { return; }
    button.textContent = document.body.dataset.copied;
    setTimeout(() => (button.textContent = label), 2000);
  });
}

// A reset link carries its token in the fragment. Opening one on this page does not reload it.
const token = document.querySelector("input[data-fragment]");
const readToken = (address) => {
  const fragment = new URL(address).hash.slice(1);
  if (!token || !fragment || document.getElementById(fragment)) return;
  token.value = fragment;
  token.closest(".field").hidden = true;
  history.replaceState(null, "", location.pathname);
};
readToken(location.href);
// The next link may have been opened before this event, so it is the event's address that counts.
addEventListener("hashchange", (event) => readToken(event.newURL));

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

// The breadcrumb of a ticket leads back to the filtered list that it was opened from.
try {
  const back = document.querySelector("[data-inbox]");
  if (document.getElementById("list")) sessionStorage.inbox = location.pathname + location.search;
  else if (back && sessionStorage.inbox) back.href = sessionStorage.inbox;
} catch { /* Storage is disabled. */ }

// Polls an address. Once the log-in has expired, the response is a redirect, and a notice in
// `container` says so.
const poll = async (address, container, options) => {
  const response = await fetch(address, { ...options, redirect: "manual" });
  const ended = container.querySelector("[data-ended]");
  if (response.type !== "opaqueredirect") ended?.remove();
  else if (!ended) {
    const line = document.createElement("p");
    const link = document.createElement("a");
    line.className = "notice wait";
    line.dataset.ended = "";
    link.href = location.pathname + location.search;
    link.textContent = document.body.dataset.ended;
    line.append(link);
    container.replaceChildren(line);
  }
  return response.ok ? response.text() : null;
};

// New tickets are announced while the page is visible, and the list is replaced while it has neither
// focus nor pointer nor selected tickets.
const arrivals = document.querySelector("[data-poll]");
if (arrivals) {
  const isBusy = () => document.activeElement.closest(".tabs, #list")
    || document.querySelector("#list:hover, #list .pick:checked");
  const fetchPage = async (address) => {
    const text = await poll(address, arrivals);
    return text === null ? null : new DOMParser().parseFromString(text, "text/html");
  };
  const replaceList = async () => {
    const next = await fetchPage(location.href);
    if (!next?.getElementById("list") || isBusy()) return false;
    const known = new Set(rows().map((row) => checkbox(row).value));
    for (const part of [".tabs", "#list"]) {
      document.querySelector(part).replaceWith(next.querySelector(part));
    }
    for (const row of rows()) row.classList.toggle("fresh", !known.has(checkbox(row).value));
    arrivals.dataset.poll = next.getElementById("arrivals").dataset.poll;
    localize(document.getElementById("list"));
    showSelectAll();
    return true;
  };
  const announce = async () => {
    if (document.hidden) return;
    try {
      const notice = (await fetchPage(arrivals.dataset.poll))?.querySelector(".notice");
      if (!notice) return;
      if ("renews" in arrivals.dataset && !isBusy() && await replaceList()) {
        notice.className = "visually-hidden";
        notice.textContent = notice.dataset.added;
      } else if (arrivals.textContent === notice.textContent) return;
      arrivals.replaceChildren(notice);
    } catch { /* No network: try again at the next interval. */ }
  };
  setInterval(announce, 10000);
  document.addEventListener("visibilitychange", announce);
}

// A form is submitted once, however often its button is pressed.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 10000); // The request failed or was cancelled.
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The draft of a reply is stored in this browser until it is sent.
const reply = document.querySelector("textarea[data-draft]");
if (reply) {
  const key = `draft ${reply.dataset.draft}`;
  const { is_internal: note, status } = reply.form.elements;
  const save = () => {
    try {
      if (reply.value.trim()) {
        const draft = { body: reply.value, isNote: note.checked, status: status.value };
        localStorage.setItem(key, JSON.stringify(draft));
      } else localStorage.removeItem(key);
    } catch { /* Storage is disabled. */ }
  };
  const restore = () => {
    try {
      if ("done" in reply.dataset) localStorage.removeItem(key);
      const draft = JSON.parse(localStorage.getItem(key));
      if (!draft || reply.value) return;
      [reply.value, note.checked] = [draft.body, draft.isNote];
      // The ticket may have this status already, and then it is no option.
      if ([...status.options].some(({ value }) => value === draft.status)) status.value = draft.status;
    } catch { /* Storage is disabled, or the draft is invalid. */ }
  };
  restore();
  save();
  reply.form.addEventListener("input", save);
  reply.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) reply.form.requestSubmit();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "r" || isOrdinaryKey(event)) return;
    event.preventDefault();
    reply.focus();
  });
  if (location.hash === "#reply") reply.focus();
}

// Changes of an open ticket and who else is replying; a draft is announced to them.
const news = document.querySelector("[data-news]");
if (news) {
  let hasDraft = false;
  let updatedAt = performance.now(); // The page itself was up to date.
  const update = async () => {
    const hadDraft = hasDraft;
    hasDraft = Boolean(reply?.value.trim());
    const isDue = performance.now() - updatedAt >= 20000 || (hasDraft && !hadDraft);
    if (document.hidden || !isDue) return;
    updatedAt = performance.now();
    const token = document.querySelector("[name=form_token]").value;
    const post = { method: "POST", body: new URLSearchParams({ form_token: token }) };
    try {
      const text = (await poll(news.dataset.news, news, hasDraft ? post : {}))?.trim();
      if (text !== undefined && text !== news.innerHTML.trim()) news.innerHTML = text;
    } catch { /* No network: try again at the next interval. */ }
  };
  update();
  reply?.form.addEventListener("input", update);
  setInterval(update, 20500);
  document.addEventListener("visibilitychange", update);
}
