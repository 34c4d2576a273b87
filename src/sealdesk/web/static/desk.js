// What pages gain with scripts; without them everything works.

// Instants in the reader's own zone and language.
const written = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  time.title = time.textContent.trim();
  time.textContent = written.format(at);
}

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

// Copy buttons; the clipboard is only there on https and on this machine.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = document.body.dataset.copied;
    setTimeout(() => (button.textContent = label), 2000);
  });
}

// A reset link carries its token behind the #.
const token = document.querySelector("input[data-fragment]");
if (token && location.hash.length > 1) {
  token.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
}

// A list of tickets without a mouse.
const tickets = [...document.querySelectorAll("[data-ticket]")];
const picks = tickets.map((row) => row.querySelector("input"));
const isTyping = (event) => event.ctrlKey || event.metaKey || event.altKey
  || event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
addEventListener("keydown", (event) => {
  if (isTyping(event)) return;
  const at = tickets.findIndex((row) => row.contains(document.activeElement));
  const go = (to) => tickets[Math.max(0, Math.min(to, tickets.length - 1))]?.querySelector("a").focus();
  const press = {
    j: () => go(at + 1),
    k: () => go(at - 1),
    x: () => picks[at]?.click(),
    "/": () => document.querySelector("[data-find]")?.focus(),
    "?": () => document.getElementById("keys")?.showModal(),
  }[event.key];
  if (press) {
    event.preventDefault();
    press();
  } else if (event.key === "Enter" && document.activeElement === picks[at]) {
    event.preventDefault();
    tickets[at].querySelector("a").click();
  }
});
const all = document.querySelector("[data-all]");
if (all) {
  all.hidden = false;
  const box = all.querySelector("input");
  box.addEventListener("change", () => picks.forEach((pick) => (pick.checked = box.checked)));
}
for (const button of document.querySelectorAll("[data-opens]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}
for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

// What is new is told while somebody looks.
const arrivals = document.querySelector("[data-poll]");
if (arrivals) {
  const ask = async () => {
    if (document.hidden) return;
    try {
      const told = await fetch(arrivals.dataset.poll, { redirect: "manual" });
      if (!told.ok) return;
      const text = (await told.text()).trim();
      if (text && text !== arrivals.dataset.told) {
        arrivals.dataset.told = text;
        arrivals.innerHTML = text;
      }
    } catch { /* No network: the next time. */ }
  };
  setInterval(ask, 10000);
  document.addEventListener("visibilitychange", ask);
}

// A form goes out once, however often its button is pressed.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// An answer to a ticket: kept in this browser until it is sent; colleagues see that it is begun.
const answer = document.querySelector("textarea[data-draft]");
if (answer) {
  const place = `draft ${answer.dataset.draft}`;
  const note = answer.form.elements.is_internal;
  const keep = () => {
    try {
      if (answer.value.trim()) {
        localStorage.setItem(place, JSON.stringify({ body: answer.value, isNote: note.checked }));
      } else localStorage.removeItem(place);
    } catch { /* A browser that keeps nothing. */ }
  };
  const restore = () => {
    try {
      if ("done" in answer.dataset) localStorage.removeItem(place);
      const kept = JSON.parse(localStorage.getItem(place));
      if (kept && !answer.value) [answer.value, note.checked] = [kept.body, kept.isNote];
    } catch { /* The same. */ }
  };
  const shown = document.getElementById("answering");
  let toldAt = -Infinity;
  const tell = async () => {
    if (!answer.value.trim() || document.hidden || performance.now() - toldAt < 20000) return;
    toldAt = performance.now();
    const token = answer.form.elements.form_token.value;
    const body = new URLSearchParams({ form_token: token });
    try {
      const told = await fetch(answer.dataset.tell, { method: "POST", body, redirect: "manual" });
      if (!told.ok) return;
      shown.textContent = await told.text();
      shown.hidden = !shown.textContent;
    } catch { /* No network: the next time. */ }
  };
  restore();
  keep();
  tell();
  answer.form.addEventListener("input", () => { keep(); tell(); });
  setInterval(tell, 20500);
  answer.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) answer.form.requestSubmit();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "r" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, dialog")) return;
    event.preventDefault();
    answer.focus();
  });
  if (location.hash === "#reply") answer.focus();
}
