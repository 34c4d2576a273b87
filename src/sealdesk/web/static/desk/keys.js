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
const controlOf = (key) => {
  const focused = document.activeElement;
  const parts = ["[data-ticket]", "form", "[data-pane]"].map((part) => focused.closest(part));
  return [...parts, document].filter(Boolean)
    .flatMap((part) => [...part.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)])
    .find((control) => !control.disabled && control.checkVisibility()
      && (control.closest("[data-ticket]")?.contains(focused) ?? true));
};
const pressControl = (control) => {
  if (!control.matches(`${FIELDS}, [tabindex="-1"]`)) {
    control.click();
    if ("leads" in control.dataset) document.getElementById(control.dataset.leads).focus();
    return;
  }
  control.focus();
  try {
    control.showPicker();
  } catch { /* Only some fields have one. */ }
};
const isOrdinaryKey = (event) => event.ctrlKey || event.metaKey || event.altKey || areShortcutsOff()
  || event.target.closest(`${FIELDS}, [contenteditable], dialog[open]`);
// A chord as `data-key` writes it. Shift is a part of a letter already.
const chordOf = ({ key, altKey, shiftKey }) =>
  ["Ctrl", altKey && "Alt", shiftKey && key.length > 1 && "Shift", key].filter(Boolean).join("+");
addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const isChord = event.ctrlKey || event.metaKey;
  if (!isChord && isOrdinaryKey(event)) return;
  const control = controlOf(isChord ? chordOf(event) : event.key === "Escape" ? "u" : event.key);
  const row = event.key === "Enter" && event.target.matches(".pick") && event.target.closest("li");
  if (!control && !row) return;
  event.preventDefault();
  if (control) pressControl(control);
  else row.querySelector("a").click();
});

// The name of a control for the list of shortcuts.
const nameOf = (control) => {
  const label = control.labels?.[0]?.cloneNode(true);
  label?.querySelectorAll("input, select, textarea").forEach((field) => field.remove());
  return [control.dataset.says, control.ariaLabel, label?.textContent, control.textContent]
    .map((text) => text?.trim()).find(Boolean) ?? "";
};
// The controls of the page by their keys; the first with a key counts.
const keyedControls = () => {
  const found = new Map();
  for (const control of document.querySelectorAll("main [data-key], [data-key]")) {
    const isHere = control.checkVisibility() || control.closest("[data-ticket]");
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
    button.addEventListener("click", () => button.closest("dialog").close());
  }
});
