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
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 2000);
  });
}

// A reset link carries its token behind the #.
const token = document.querySelector("input[data-fragment]");
if (token && location.hash.length > 1) {
  token.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
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
