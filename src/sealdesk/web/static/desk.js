// What pages gain with scripts; without them everything works.

// Instants in the reader's own zone, in the language of the page, as in the reader's region.
const language = document.documentElement.lang;
const region = navigator.languages.find((each) => each.startsWith(language)) ?? language;
const written = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "short" });
// In logs to the second.
const logged = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "medium" });
// In lists, the time of today, the day of this year, else the date.
const brief = (at, now = new Date()) => at.toLocaleString(region,
  at.toDateString() === now.toDateString() ? { timeStyle: "short" }
    : at.getFullYear() === now.getFullYear() ? { day: "numeric", month: "short" }
      : { dateStyle: "medium" });
const localize = (part) => {
  for (const time of part.querySelectorAll("time[datetime]")) {
    time.title = time.textContent.trim();
    const at = new Date(time.dateTime);
    const style = time.closest(".dense") ? logged : written;
    time.textContent = time.matches(".when") ? brief(at) : style.format(at);
  }
};
localize(document);

// Fields for instants speak the reader's zone, and are sent in UTC.
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

// A secret is shown once: reloading its page leads to what it is of, and sends no form again.
const once = document.querySelector("[data-address]");
if (once) history.replaceState(null, "", once.dataset.address);

// Copy buttons. The clipboard is only there on https and on this machine; elsewhere the old way.
async function copy(shown) {
  if (navigator.clipboard) return navigator.clipboard.writeText(shown.textContent);
  getSelection().selectAllChildren(shown);
  if (!document.execCommand("copy")) throw new Error("It stays selected.");
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

// A reset link carries its token behind the #; one that is opened at this page loads nothing anew.
const token = document.querySelector("input[data-fragment]");
const takeToken = () => {
  const carried = location.hash.slice(1);
  if (!token || !carried || document.getElementById(carried)) return;
  token.value = carried;
  history.replaceState(null, "", location.pathname);
};
takeToken();
addEventListener("hashchange", takeToken);

// Who speaks to the machine does not press single keys, and can turn them off.
const areKeysOff = () => {
  try {
    return localStorage.shortcuts === "off";
  } catch { return false; }
};
for (const box of document.querySelectorAll("[data-shortcuts]")) {
  box.checked = !areKeysOff();
  box.addEventListener("change", () => {
    try {
      localStorage.shortcuts = box.checked ? "on" : "off";
    } catch { /* A browser that keeps nothing. */ }
  });
}

// A list of tickets without a mouse; it is looked up each time, for it is renewed.
const rows = () => [...document.querySelectorAll("[data-ticket]")];
const pick = (row) => row.querySelector("input");
const isNoShortcut = (event) => event.ctrlKey || event.metaKey || event.altKey || areKeysOff()
  || event.target.closest("input:not([type=checkbox]), textarea, select, dialog[open]");
addEventListener("keydown", (event) => {
  if (isNoShortcut(event)) return;
  const tickets = rows();
  const at = tickets.findIndex((row) => row.contains(document.activeElement));
  const link = tickets[at]?.querySelector("a");
  const go = (to) => tickets[Math.max(0, Math.min(to, tickets.length - 1))]?.querySelector("a").focus();
  const press = {
    j: () => go(at + 1),
    k: () => go(at - 1),
    x: link && (() => pick(tickets[at]).click()),
    r: link && (() => location.assign(`${link.href}#reply`)),
    "/": () => document.querySelector("[data-find]")?.focus(),
    "?": () => document.getElementById("keys")?.showModal(),
  }[event.key];
  if (press) {
    event.preventDefault();
    press();
  } else if (link && event.key === "Enter" && document.activeElement === pick(tickets[at])) {
    event.preventDefault();
    link.click();
  }
});
const reveal = () => document.querySelector("[data-all]")?.removeAttribute("hidden");
reveal();
addEventListener("change", ({ target }) => {
  if (target.closest("[data-all]")) rows().forEach((row) => (pick(row).checked = target.checked));
});
for (const button of document.querySelectorAll("[data-opens]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}
for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

// The way back from a ticket leads to the view that it was opened from.
try {
  const back = document.querySelector("[data-inbox]");
  if (document.getElementById("list")) sessionStorage.inbox = location.pathname + location.search;
  else if (back && sessionStorage.inbox) back.href = sessionStorage.inbox;
} catch { /* A browser that keeps nothing. */ }

// What an open page asks for by itself. Once the log-in has ended a line in its place says so, or
// news would be waited for in vain.
const fetched = async (address, place, how) => {
  const told = await fetch(address, { ...how, redirect: "manual" });
  const ended = place.querySelector("[data-ended]");
  if (told.type !== "opaqueredirect") ended?.remove();
  else if (!ended) {
    const line = document.createElement("p");
    const link = document.createElement("a");
    line.className = "notice wait";
    line.dataset.ended = "";
    link.href = location.pathname + location.search;
    link.textContent = document.body.dataset.ended;
    line.append(link);
    place.replaceChildren(line);
  }
  return told.ok ? told.text() : null;
};

// What is new is told while somebody looks; it joins the list while nobody works in that.
const arrivals = document.querySelector("[data-poll]");
if (arrivals) {
  const isBusy = () => document.activeElement.closest(".tabs, #list")
    || document.querySelector("#list:hover, #list .pick:checked");
  const page = async (address) => {
    const text = await fetched(address, arrivals);
    return text === null ? null : new DOMParser().parseFromString(text, "text/html");
  };
  const renew = async () => {
    const fresh = await page(location.href);
    if (!fresh?.getElementById("list") || isBusy()) return false;
    const known = new Set(rows().map((row) => pick(row).value));
    for (const part of [".tabs", "#list"]) {
      document.querySelector(part).replaceWith(fresh.querySelector(part));
    }
    for (const row of rows()) row.classList.toggle("fresh", !known.has(pick(row).value));
    arrivals.dataset.poll = fresh.getElementById("arrivals").dataset.poll;
    localize(document.getElementById("list"));
    reveal();
    return true;
  };
  const ask = async () => {
    if (document.hidden) return;
    try {
      const told = (await page(arrivals.dataset.poll))?.querySelector(".notice");
      if (!told) return;
      if ("renews" in arrivals.dataset && !isBusy() && await renew()) {
        told.className = "unseen";
        told.textContent = told.dataset.added;
      } else if (arrivals.textContent === told.textContent) return;
      arrivals.replaceChildren(told);
    } catch { /* No network: the next time. */ }
  };
  setInterval(ask, 10000);
  document.addEventListener("visibilitychange", ask);
}

// A form goes out once, however often its button is pressed.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 10000); // Nothing came of it, or it was stopped.
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// An answer to a ticket: kept in this browser until it is sent; colleagues see that it is begun.
const answer = document.querySelector("textarea[data-draft]");
if (answer) {
  const place = `draft ${answer.dataset.draft}`;
  const { is_internal: note, status: then } = answer.form.elements;
  const keep = () => {
    try {
      if (answer.value.trim()) {
        const draft = { body: answer.value, isNote: note.checked, then: then.value };
        localStorage.setItem(place, JSON.stringify(draft));
      } else localStorage.removeItem(place);
    } catch { /* A browser that keeps nothing. */ }
  };
  const restore = () => {
    try {
      if ("done" in answer.dataset) localStorage.removeItem(place);
      const kept = JSON.parse(localStorage.getItem(place));
      if (!kept || answer.value) return;
      [answer.value, note.checked] = [kept.body, kept.isNote];
      // It may be that status by now.
      if ([...then.options].some(({ value }) => value === kept.then)) then.value = kept.then;
    } catch { /* The same. */ }
  };
  restore();
  keep();
  answer.form.addEventListener("input", keep);
  answer.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) answer.form.requestSubmit();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "r" || isNoShortcut(event)) return;
    event.preventDefault();
    answer.focus();
  });
  if (location.hash === "#reply") answer.focus();
}

// What is new in a ticket, and who else is answering; an answer that is begun is told to them.
const news = document.querySelector("[data-news]");
if (news) {
  let isBegun = false;
  let toldAt = performance.now(); // The page itself told it.
  const tell = async () => {
    const wasBegun = isBegun;
    isBegun = Boolean(answer?.value.trim());
    const isDue = performance.now() - toldAt >= 20000 || (isBegun && !wasBegun);
    if (document.hidden || !isDue) return;
    toldAt = performance.now();
    const token = document.querySelector("[name=form_token]").value;
    const post = { method: "POST", body: new URLSearchParams({ form_token: token }) };
    try {
      const text = (await fetched(news.dataset.news, news, isBegun ? post : {}))?.trim();
      if (text !== undefined && text !== news.innerHTML.trim()) news.innerHTML = text;
    } catch { /* No network: the next time. */ }
  };
  tell();
  answer?.form.addEventListener("input", tell);
  setInterval(tell, 20500);
  document.addEventListener("visibilitychange", tell);
}
