// Users of speech input can turn single-key shortcuts off (WCAG 2.1.4).
const areShortcutsOff = () => {
  try {
    return localStorage.shortcuts === "off";
  } catch { return false; }
};
onPart((part) => {
  for (const box of part.querySelectorAll("[data-shortcuts]")) {
    box.checked = !areShortcutsOff();
    box.addEventListener("change", () => {
      try {
        localStorage.shortcuts = box.checked ? "on" : "off";
      } catch { /* Storage is disabled. */ }
    });
  }
});

// A key presses the control that has it in `data-key`: the one in the focused row, form or pane
// first, else the first of the page. Controls of rows have their key only while the row is focused.
const FIELDS = "select, textarea, input:not([type=checkbox], [type=radio])";
// The ways to send are reachable by their keys while their menu is closed, and dialogs always.
const canPress = (control) =>
  control.matches("[data-opens]") || control.checkVisibility() || control.closest(".sends")?.checkVisibility();
const controlOf = (key) => {
  const focused = document.activeElement;
  const parts = ["[data-ticket]", "form", "[data-pane]"].map((part) => focused.closest(part));
  return [...parts, document].filter(Boolean)
    .flatMap((part) => [...part.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)])
    .find((control) => !control.disabled && canPress(control)
      && (control.closest("[data-ticket]")?.contains(focused) ?? true));
};
// Where the focus belongs while one reads: the row of the list, or the heading of the ticket.
const readingPlace = (control) => {
  const pane = control.closest("[data-pane]") ?? document.getElementById("content");
  const places = ["[data-ticket].current a", "[data-heading]", "[data-ticket] a"];
  return places.map((each) => pane.querySelector(each)).find(Boolean) ?? pane;
};
const leave = (control) => {
  const place = readingPlace(control);
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus({ preventScroll: true });
};
// Where nothing had the focus before, the browser leaves it inside for the next keys.
const closeDialog = (dialog) => {
  dialog.close();
  if (dialog.contains(document.activeElement)) leave(dialog);
};
const pressControl = (control) => {
  if (!control.matches(`${FIELDS}, [tabindex="-1"]`)) {
    control.click();
    if ("leads" in control.dataset) document.getElementById(control.dataset.leads).focus();
    return;
  }
  if (control.localName === "select") return openList(control, true);
  control.focus();
  control.select?.(); // What is typed takes the place of old words.
  try {
    control.showPicker();
  } catch { /* Only some fields have one. */ }
};
// A key is not for the page that the menu covers.
const isMenuOpen = () => CSS.supports("selector(:popover-open)") && document.querySelector(":popover-open");
const isChord = ({ ctrlKey, metaKey }) => ctrlKey || metaKey;
// While another page is on its way no key is a command: some are lost between the two.
const LEFT_WITHIN_MS = 2000; // Unless the address is one of a file.
let leavingUntil = 0;
const expectLeaving = (event) => {
  if (!event.isTrusted || event.defaultPrevented) return;
  leavingUntil = performance.now() + LEFT_WITHIN_MS;
  setTimeout(() => {
    if (event.defaultPrevented) leavingUntil = 0; // Whoever was asked may have stayed.
  });
};
for (const each of ["submit", "beforeunload"]) addEventListener(each, expectLeaving);
const isLeaving = () => performance.now() < leavingUntil;
// Whoever types while another page comes means none of its commands either, before they pause.
const PAUSE_MS = 1000;
let typedAt = 0;
try {
  typedAt = Number(sessionStorage.typedAt ?? 0); // On the page before.
  delete sessionStorage.typedAt;
} catch { /* Storage is disabled. */ }
const isTypingOn = () => isLeaving() || Date.now() - typedAt < PAUSE_MS;
addEventListener("keydown", (event) => {
  if (event.key.length > 1 || isChord(event) || !isTypingOn()) return;
  typedAt = Date.now();
  try {
    if (isLeaving()) sessionStorage.typedAt = typedAt;
  } catch { /* Storage is disabled. */ }
}, true);
// Nor does a space or a new line of a sentence press what has the focus, such as the button that merges.
let letterAt = -PAUSE_MS;
addEventListener("keydown", (event) => {
  const { key, target, timeStamp } = event;
  if (isChord(event) || target.closest(FIELDS)) return;
  const isInSentence = key === " " && timeStamp - letterAt < PAUSE_MS || [" ", "Enter"].includes(key) && isTypingOn();
  if (isInSentence && target.closest("a, button, input, summary")) event.preventDefault();
  if (key.length === 1 && key !== " ") letterAt = timeStamp;
}, true);
const isOrdinaryKey = (event) => isTypingOn() || event.ctrlKey || event.metaKey || event.altKey || areShortcutsOff()
  || isMenuOpen()
  || event.target.closest(`${FIELDS}, [contenteditable], dialog[open]`);
// A chord as `data-key` writes it. Shift is a part of a letter already.
const chordOf = ({ key, altKey, shiftKey }) =>
  ["Ctrl", altKey && "Alt", shiftKey && key.length > 1 && "Shift", key].filter(Boolean).join("+");

// Keys pressed while the next ticket is on its way are held for it: none runs on the ticket that is
// left, and a sentence is typed where its first key leads. Those of the browser, such as F5, stay its
// own.
const MAX_HELD = 1000;
let held = null;
const holdKeys = () => (held = []);
addEventListener("keydown", (event) => {
  if (!held || /^F\d/.test(event.key)) return;
  event.stopImmediatePropagation();
  if (!isChord(event)) event.preventDefault();
  if (held.length < MAX_HELD) held.push(event);
}, true);
const typeKey = (field, key) => {
  if (field.localName === "select") return;
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  if (!field.dispatchEvent(event)) return; // A list took it, or a macro.
  if (key === "Backspace") document.execCommand("delete");
  else if (key === "Enter" && field.localName === "textarea") document.execCommand("insertText", false, "\n");
  // As the browser sends the form of a field on Enter.
  else if (key === "Enter" && field.role === "combobox") field.form?.requestSubmit();
  else if (key.length === 1) document.execCommand("insertText", false, key);
};
const replayKey = (event) => {
  const field = document.activeElement;
  if (held) held.push(event);
  else if (field.matches(FIELDS) && !isChord(event) && event.key !== "Escape") typeKey(field, event.key);
  else if (field.dispatchEvent(new KeyboardEvent(event.type, event)) && event.key === "Enter"
    && !isChord(event) && field.matches("a[href]")) field.click();
};
// isShown: whether the ticket is there that they were held for; else they are dropped.
const releaseKeys = (isShown) => {
  const keys = held ?? [];
  held = null;
  if (isShown) keys.forEach(replayKey);
};

// Escape leaves a field, whose text stays, or closes a dialog: the browser does so some keys later.
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  const dialog = target.closest?.("dialog");
  if (!dialog && !target.matches?.(FIELDS)) return;
  event.preventDefault();
  if (dialog) closeDialog(dialog);
  else leave(target);
});
addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (!isChord(event) && isOrdinaryKey(event)) return;
  const control = controlOf(isChord(event) ? chordOf(event) : event.key === "Escape" ? "u" : event.key);
  const row = event.key === "Enter" && event.target.matches("[name=ticket]") && event.target.closest("li");
  if (!control && !row) return;
  event.preventDefault();
  if (control) pressControl(control);
  else row.querySelector("a").click();
});

// The name of a control for the list of shortcuts.
const nameOf = (control) => {
  const label = control.labels?.[0]?.cloneNode(true);
  label?.querySelectorAll("input, select, textarea").forEach((field) => field.remove());
  return [control.dataset.says, control.closest("#rows")?.dataset.says, control.ariaLabel, label?.textContent, control.textContent]
    .map((text) => text?.trim()).find(Boolean) ?? "";
};
// The controls of the page by their keys; the first with a key counts.
const keyedControls = () => {
  const found = new Map();
  for (const control of document.querySelectorAll("main [data-key], [data-key]")) {
    const isHere = canPress(control) || control.closest("[data-ticket]");
    if (isHere && !found.has(control.dataset.key)) found.set(control.dataset.key, control);
  }
  return found;
};
const listKeys = (list) => {
  const lines = [...keyedControls()].flatMap(([key, control]) => {
    const term = document.createElement("dt");
    const meaning = document.createElement("dd");
    term.append(...key.split("+").map((each) => {
      const cap = document.createElement("kbd");
      cap.textContent = each;
      return cap;
    }));
    meaning.textContent = nameOf(control);
    return [term, meaning];
  });
  list.replaceChildren(...lines);
};

onPart((part) => {
  for (const button of part.querySelectorAll("[data-opens]")) {
    const dialog = document.getElementById(button.dataset.opens);
    button.hidden = false;
    button.addEventListener("click", () => {
      if (button.dataset.only) dialog.dataset.only = button.dataset.only;
      const list = dialog.querySelector("[data-keys]");
      if (list) listKeys(list);
      dialog.showModal();
    });
  }
  for (const button of part.querySelectorAll("[data-closes]")) {
    button.addEventListener("click", () => closeDialog(button.closest("dialog")));
  }
});
