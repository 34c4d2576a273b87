// Progressive enhancement of the pages: everything works without scripts.

// Styles hide what does nothing without scripts, and what they replace.
document.documentElement.classList.add("scripted");

// What scripts do with each part of a page: first with the document, then with each part that is
// loaded later, such as the ticket beside the list. `signal` is aborted when the part is replaced:
// pass it to listeners, and stop timers and requests by it.
const starters = [];
const onPart = (start) => starters.push(start);
const startPart = (part) => {
  const ending = new AbortController();
  for (const start of starters) start(part, ending.signal);
  return ending;
};
let pageEnding = null; // Of what began with the document.
addEventListener("DOMContentLoaded", () => (pageEnding = startPart(document)));

// The HTML of a response as a document, whose parts a script takes over.
const parsePage = (html) => new DOMParser().parseFromString(html, "text/html");

// Says something in the live region of the page: text, and a control such as "Undo" for ten seconds.
let hiding;
const say = (text, control) => {
  const region = document.getElementById("said");
  region.replaceChildren(text, ...(control ? [" ", control] : []));
  clearTimeout(hiding);
  hiding = setTimeout(() => region.replaceChildren(), control ? 10000 : 4000);
};

// Times in the browser's time zone, in the page's language and the browser's region.
const language = document.documentElement.lang;
const region = navigator.languages.find((each) => each.startsWith(language)) ?? language;
const longFormat = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "short" });
// Logs show seconds.
const logFormat = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "medium" });
// Months (2027-11), days (2027-11-29) and hours of the desk (2027-11-29T14:00) are shown as they are written.
const dayFormat = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeZone: "UTC" });
const monthFormat = new Intl.DateTimeFormat(region, { month: "long", year: "numeric", timeZone: "UTC" });
const hourFormat = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
// Lists show the time for today, the day for this year, else the date.
const formatShort = (at, now = new Date()) => at.toLocaleString(region,
  at.toDateString() === now.toDateString() ? { timeStyle: "short" }
    : at.getFullYear() === now.getFullYear() ? { day: "numeric", month: "short" }
      : { dateStyle: "medium" });
// The time since an instant: minutes, hours and days for a month, then the date.
const agoFormat = new Intl.RelativeTimeFormat(region, { numeric: "auto", style: "narrow" });
const showAgo = (time) => {
  const at = new Date(time.dateTime);
  const minutes = Math.round((at - Date.now()) / 60000);
  const [unit, size] = [["day", 1440], ["hour", 60], ["minute", 1]]
    .find(([, each]) => Math.abs(minutes) >= each) ?? ["second", 1];
  time.title = logFormat.format(at);
  time.textContent = minutes < -43200 ? formatShort(at)
    : agoFormat.format(Math.trunc(minutes / size), unit);
};
// What is due, in the words of the server.
const [inMinutes, inHours, inDays, due, late] = JSON.parse(document.body.dataset.durations);
const showDue = (time) => {
  const at = new Date(time.dateTime);
  const isLate = at <= Date.now();
  const minutes = Math.max(1, Math.floor(Math.abs(at - Date.now()) / 60000));
  const [words, size] = minutes < 60 ? [inMinutes, 1] : minutes < 2880 ? [inHours, 60] : [inDays, 1440];
  time.title = logFormat.format(at);
  time.textContent = (isLate ? late : due).replace("{}", words.replace("{}", Math.floor(minutes / size)));
  time.parentNode.classList.toggle("late", isLate);
  time.parentNode.classList.toggle("turn", !isLate);
};
setInterval(() => {
  document.querySelectorAll("time.ago").forEach(showAgo);
  document.querySelectorAll("time.due").forEach(showDue);
}, 60000);
const localize = (part) => {
  for (const time of part.querySelectorAll("time")) {
    if (time.matches(".ago, .due")) {
      (time.matches(".ago") ? showAgo : showDue)(time);
      continue;
    }
    time.title = time.textContent.trim();
    time.dateTime ||= time.title.replace(" ", "T");
    const { length } = time.dateTime;
    const at = new Date(length === 16 ? `${time.dateTime}Z` : time.dateTime);
    const style = { 7: monthFormat, 10: dayFormat, 16: hourFormat }[length] ?? (time.closest(".dense") ? logFormat : longFormat);
    time.textContent = time.matches(".when, .tickets .side > time") ? formatShort(at) : style.format(at);
  }
};
onPart(localize);
// Below a plot, without the year.
const shortDayFormat = new Intl.DateTimeFormat(region, { day: "numeric", month: "short", timeZone: "UTC" });
onPart((part) => {
  for (const text of part.querySelectorAll(".plot text")) {
    const [, day, hour = ""] = /^(\d\d-\d\d)( \d\d:\d\d)?$/.exec(text.textContent) ?? [];
    if (day) text.textContent = shortDayFormat.format(new Date(`2024-${day}`)) + hour;
  }
});

// Date and time fields show the browser's time zone and are sent in UTC.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
onPart((part) => {
  for (const input of part.querySelectorAll("input[data-utc]")) {
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
});

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
onPart((part) => {
  for (const button of part.querySelectorAll("button[data-copy]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await copy(document.getElementById(button.dataset.copy));
      } catch { return; }
      button.textContent = document.body.dataset.copied;
      say(document.body.dataset.copied);
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
});

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

// A form is submitted once, however often its button is pressed.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 10000); // The request failed or was cancelled.
});
// On the page that follows a form, the focus is on what the page says of it, or where it was before.
const keepSender = ({ target: form, submitter, defaultPrevented }) => {
  if (defaultPrevented || form.matches("[role=search], [data-applies], [data-logs-out]")) return;
  // A control that was pressed by its key does not get the focus.
  const action = [...form.elements].includes(document.activeElement) ? form.getAttribute("action") : "";
  try {
    sessionStorage.sender = JSON.stringify([action, submitter?.name, submitter?.value]);
  } catch { /* Storage is disabled. */ }
};
addEventListener("submit", keepSender);
const focusAnswer = () => {
  const [action, name, value] = JSON.parse(sessionStorage.sender);
  delete sessionStorage.sender;
  if (document.activeElement !== document.body || document.querySelector("[autofocus]")) return;
  const buttons = [...document.querySelectorAll("main button")].filter(
    (each) => each.form?.getAttribute("action") === action && !each.disabled && each.checkVisibility());
  const place = document.querySelector("main [aria-invalid=true], main :is(.fault, [role=alert], .notice[role=status])")
    ?? document.getElementById(location.hash.slice(1))
    ?? buttons.find((each) => each.name === name && each.value === value) ?? buttons[0]
    ?? document.querySelector("main h1");
  if (!place) return;
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus();
};
onPart((part) => {
  try {
    if (part === document && sessionStorage.sender) focusAnswer();
  } catch { /* Storage is disabled. */ }
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
