// Macros: typed in the composer as ";shortcut", or picked in the palette. They send and save nothing.
const macroTools = (part = document) => part.querySelector("[data-macros] select")?.closest("[data-macros]");
const macroOptions = () => [...macroTools()?.querySelector("select").options ?? []].slice(1);
const loadMacro = async (id) => {
  const response = await fetch(macroTools().dataset.macros + id, { redirect: "manual" });
  if (!response.ok) throw new Error(response.status);
  return new DOMParser().parseFromString(await response.text(), "text/html").body;
};
const insertMacro = async (id, start, end) => {
  const tools = macroTools();
  const reply = tools.closest("form").elements.body;
  const state = tools.querySelector("[data-macro-state]");
  const typed = reply.value.slice(start, end);
  let macro;
  try {
    macro = await loadMacro(id);
  } catch {
    state.textContent = tools.dataset.failed;
    return;
  }
  reply.focus();
  // The shortcut is replaced where it still stands.
  if (start < end && reply.value.slice(start, end) === typed) reply.setSelectionRange(start, end);
  const text = macro.querySelector("[data-macro-text]");
  // Unlike others, this command can be undone by Ctrl+Z. It would shorten what is too long.
  const fits = reply.value.length + text.textContent.length <= reply.maxLength;
  const command = text.textContent ? "insertText" : "delete";
  if (!fits || !document.execCommand(command, false, text.textContent)) {
    reply.setRangeText(text.textContent, reply.selectionStart, reply.selectionEnd, "end");
  }
  for (const each of macro.querySelectorAll("[data-value]")) {
    if (each.dataset.field === "status") reply.form.elements.status.value = each.dataset.value;
    else document.dispatchEvent(new CustomEvent("desk:choose", { detail: each }));
  }
  reply.form.dispatchEvent(new Event("input")); // The draft is stored.
  say([...macro.querySelectorAll("p:not(.fault), li")].map((each) => each.textContent.trim()).join(" · "));
  state.replaceChildren(...macro.querySelectorAll(".fault"));
};
onPart((part, signal) => {
  const tools = macroTools(part);
  if (!tools) return;
  const { form } = tools.querySelector("select");
  tools.querySelector("select").disabled = true;
  tools.querySelector("[data-plain]").hidden = true;
  tools.querySelector("[formaction]").remove(); // Or Enter in the composer would press it.
  form.elements.body.addEventListener("keydown", (event) => {
    const { key, target: { value, selectionStart: end, selectionEnd } } = event;
    if (![" ", "Tab", "Enter"].includes(key) || end !== selectionEnd || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const [typed] = /(?<!\S);\S+$/.exec(value.slice(Math.max(0, end - 34), end)) ?? [];
    const wanted = typed?.toLowerCase();
    const macro = typed && macroOptions().find(({ text }) => `;${text.split(" ;").pop()}`.toLowerCase() === wanted);
    if (!macro) return;
    event.preventDefault();
    insertMacro(macro.value, end - typed.length, end);
  }, { signal });
});
