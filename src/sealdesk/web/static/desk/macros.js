// Macros: typed in the composer as ";shortcut", or picked in the palette. They send and save nothing.
const macroTools = () => document.querySelector("[data-macros]:has(select)");
const macroOptions = () => [...macroTools()?.querySelectorAll("option[value]:not(:first-child)") ?? []];
const loadMacro = async (id) => {
  const response = await fetch(macroTools().dataset.macros + id, { redirect: "manual" });
  if (!response.ok) throw new Error(response.status);
  return new DOMParser().parseFromString(await response.text(), "text/html").body;
};
// typed: what stands before the cursor for it. What is typed while it comes stands behind it.
const insertMacro = async (id, typed = "") => {
  const tools = macroTools();
  const { body: reply, status } = tools.closest("form").elements;
  const state = tools.querySelector("[data-macro-state]");
  reply.focus();
  const [start, end] = [reply.selectionStart - typed.length, reply.selectionEnd];
  const before = reply.value.slice(0, end);
  let macro;
  try {
    macro = await loadMacro(id);
  } catch ({ message }) {
    say(message === "404" ? tools.dataset.gone : tools.dataset.failed);
    return;
  }
  if (!reply.isConnected) return; // Another ticket stands in its place.
  reply.focus();
  const isBefore = reply.value.startsWith(before);
  const further = isBefore ? Math.max(0, reply.selectionEnd - end) : 0;
  if (isBefore) reply.setSelectionRange(start, end);
  const text = macro.querySelector("[data-macro-text]").textContent;
  // This command can be undone by Ctrl+Z, but would shorten what is too long.
  const fits = reply.value.length + text.length <= reply.maxLength;
  if (!fits || !document.execCommand(text ? "insertText" : "delete", false, text)) {
    reply.setRangeText(text, reply.selectionStart, reply.selectionEnd, "end");
  }
  reply.selectionStart = reply.selectionEnd += further;
  for (const each of macro.querySelectorAll("[data-value]")) {
    if (each.dataset.field === "status") status.value = each.dataset.value;
    else document.dispatchEvent(new CustomEvent("desk:choose", { detail: each }));
  }
  const files = reply.form.querySelector("[data-uploads] ul");
  for (const each of macro.querySelector("template")?.content.querySelectorAll("li") ?? []) {
    if (!files.querySelector(`[value="${each.querySelector("input").value}"]`)) files.append(each);
  }
  reply.dispatchEvent(new Event("input", { bubbles: true })); // The draft is stored.
  say([...macro.querySelectorAll("p:not(.fault), li")].map((each) => each.textContent).join(" · "));
  state.replaceChildren(...macro.querySelectorAll(".fault"));
};
onPart((part, signal) => {
  const select = part.querySelector("[data-macros] select");
  if (!select) return;
  select.disabled = true;
  part.querySelector("[data-macros] [formaction]").remove(); // Or Enter would press it.
  select.form.elements.body.addEventListener("keydown", (event) => {
    const { key, target: { value, selectionStart: end, selectionEnd } } = event;
    if (![" ", "Tab", "Enter"].includes(key) || end !== selectionEnd || event.isComposing
      || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const [typed] = /(?<!\S);\S+$/.exec(value.slice(Math.max(0, end - 34), end)) ?? [];
    const macro = typed && macroOptions().find(({ text }) =>
      text.toLowerCase().endsWith(` ${typed.toLowerCase()}`));
    if (!macro) return;
    event.preventDefault();
    insertMacro(macro.value, typed);
  }, { signal });
});
