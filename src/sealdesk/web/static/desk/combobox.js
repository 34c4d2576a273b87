// A select opens a list of our own: a field that filters, and options with avatars (decision 0111).
// The select keeps the value, so that forms and pages without scripts know nothing of the list.
const FILTERED_FROM = 8; // Fewer options are not filtered: what is typed moves the mark.
const MOST_OPTIONS = 100;
const isCoarse = matchMedia("(pointer: coarse)"); // Phones have a sheet of their own.
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
// What makes two tags one, as the server has it.
const identityOf = (text) => text.normalize("NFC").toLowerCase().trim().split(/\s+/).join(" ");
const rankOf = (option, query) => {
  const text = plain(option.text);
  if (text.startsWith(query)) return 0;
  return text.includes(` ${query}`) ? 1 : text.includes(query) ? 2 : 3;
};
const isFirst = (option) => !option.value || "me" in option.dataset;
// Nobody and oneself first, then the others in their order.
const rankedOptions = (select, query) => {
  const options = [...select.options].filter((each) => !each.disabled && !each.hidden);
  if (!query) return [...options.filter(isFirst), ...options.filter((each) => !isFirst(each))];
  return options.filter((each) => rankOf(each, query) < 3)
    .sort((one, other) => rankOf(one, query) - rankOf(other, query));
};
// The face of a person, or the sign of a status or a priority; "" where an option has none.
const signOf = (option) => {
  const [colour, textContent = ""] = option.dataset.avatar?.split(" ") ?? [];
  const { name } = option.closest("select") ?? {};
  const sign = ["status", "priority"].includes(name) && option.value ? `${name} ${option.value}` : "";
  const kind = colour ? `avatar ${colour}` : sign;
  return kind && Object.assign(document.createElement("span"), { className: `sign ${kind}`, textContent, ariaHidden: "true" });
};
const lineOf = (option, isChosen) => {
  const line = document.createElement("div");
  const name = document.createElement("bdi");
  line.role = "option";
  name.textContent = option.text;
  line.append(signOf(option), name);
  if (option.dataset.more) {
    const more = Object.assign(document.createElement("bdi"), { className: "soft", textContent: option.dataset.more });
    line.append(more);
  }
  if (isChosen) line.dataset.chosen = "";
  return line;
};

// Its place is a rule: an attribute `style` is of no element of ours.
const listPlace = new CSSStyleSheet();
document.adoptedStyleSheets.push(listPlace);
let opened = null; // { select, pop } of the list that is open.
const closeList = () => {
  if (opened?.select.role === "combobox") opened.select.ariaExpanded = "false";
  opened?.select.removeAttribute("aria-activedescendant");
  opened?.pop.remove();
  opened = null;
};
const placeList = () => {
  if (!opened?.select.isConnected) return closeList();
  const { select, pop } = opened;
  const { left, top, bottom, width } = select.getBoundingClientRect();
  const least = select.localName === "textarea" ? 208 : Math.max(width, 208);
  const put = (x, y) => listPlace.replaceSync(
    `.pop { min-width: ${least}px; left: ${Math.max(8, x)}px; top: ${Math.max(8, y)}px; }`);
  put(left, bottom);
  const { offsetWidth, offsetHeight } = pop;
  const isBelow = bottom + offsetHeight + 8 < innerHeight || top < innerHeight / 2;
  put(Math.min(left, document.documentElement.clientWidth - offsetWidth - 8),
    isBelow ? bottom + 4 : top - offsetHeight - 4);
};
const linesOf = (options) => options.map((option, index) =>
  Object.assign(lineOf(option, option.selected), { id: `options-${index}` }));
const markLine = (list, field, at) => {
  [...list.children].forEach((line, each) => (line.ariaSelected = String(each === at)));
  list.children[at]?.scrollIntoView({ block: "nearest" });
  if (list.children[at]) field.setAttribute("aria-activedescendant", `options-${at}`);
  else field.removeAttribute("aria-activedescendant");
};
// A list below a field of text, which keeps the focus.
const openLines = (field, options, take) => {
  const pop = Object.assign(document.createElement("div"), { className: "pop few", popover: "manual" });
  const list = Object.assign(document.createElement("div"), { role: "listbox", id: "options", ariaLabel: nameOf(field) });
  list.append(...linesOf(options));
  pop.append(list);
  pop.addEventListener("mousedown", (event) => event.preventDefault());
  pop.addEventListener("click", (event) => {
    event.preventDefault();
    const index = [...list.children].findIndex((line) => line.contains(event.target));
    if (index >= 0) take(options[index]);
  });
  field.after(pop);
  opened = { select: field, pop };
  pop.showPopover();
  placeList();
};
// isCommand: whether the focus goes back to what one reads, and not to the select.
const openList = (select, isCommand, typed = "") => {
  closeList();
  select.focus({ preventScroll: true });
  const pop = document.createElement("div");
  if (!pop.showPopover) return select.showPicker?.();
  const field = Object.assign(document.createElement("input"),
    { role: "combobox", autocomplete: "off", value: typed, ariaExpanded: "true", ariaAutoComplete: "list" });
  const list = Object.assign(document.createElement("div"), { role: "listbox", id: "options" });
  const isFiltered = select.options.length >= FILTERED_FROM;
  field.ariaLabel = list.ariaLabel = nameOf(select);
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("form", "");
  pop.className = isFiltered ? "pop" : "pop few";
  pop.popover = "manual";
  let options = [];
  let at = 0;
  const mark = (index) => {
    at = Math.max(0, Math.min(index, options.length - 1));
    markLine(list, field, at);
  };
  const show = () => {
    const query = plain(field.value);
    options = rankedOptions(select, isFiltered ? query : "").slice(0, MOST_OPTIONS);
    list.replaceChildren(...linesOf(options));
    list.dataset.nothing = options.length ? "" : document.querySelector("[data-nothing]")?.textContent.trim() ?? "";
    const best = query ? options.indexOf(rankedOptions(select, query)[0]) : options.findIndex((each) => each.selected);
    mark(best);
    placeList();
  };
  const end = () => {
    closeList();
    if (isCommand) leave(select);
    else select.focus({ preventScroll: true });
  };
  const take = (option) => {
    // Its person, team or choice was deleted while the list was open.
    if (!option?.isConnected) return show();
    const isChanged = !option.selected;
    option.selected = true;
    end();
    if (!isChanged) return;
    for (const kind of ["input", "change"]) select.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.key === "Tab") return end(); // The focus goes on from here.
    if (step) mark(at + step);
    else if (event.key === "Enter") take(options[at]);
    else if (event.key === "Escape") end();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // Inside of a form: what is typed here is none of its fields.
  for (const kind of ["input", "change"]) pop.addEventListener(kind, (event) => event.stopPropagation());
  pop.addEventListener("mousedown", (event) => {
    if (event.target !== field) event.preventDefault(); // The focus stays.
  });
  pop.addEventListener("click", (event) => {
    event.preventDefault();
    const index = [...list.children].findIndex((line) => line.contains(event.target));
    if (index >= 0) take(options[index]);
  });
  pop.addEventListener("focusout", ({ relatedTarget }) => {
    if (opened?.pop === pop && relatedTarget && !pop.contains(relatedTarget)) closeList();
  });
  pop.append(field, list);
  (select.closest("label") ?? select).after(pop);
  opened = { select, pop };
  pop.showPopover();
  show();
  field.focus({ preventScroll: true });
};

const hasList = (target) => target.localName === "select" && !target.multiple && !target.disabled;
addEventListener("mousedown", (event) => {
  const { target } = event;
  if (opened && !opened.pop.contains(target)) {
    const isSame = opened.select === target;
    closeList();
    if (isSame && hasList(target)) return event.preventDefault();
  }
  if (event.button || event.defaultPrevented || isCoarse.matches || !hasList(target)) return;
  event.preventDefault();
  openList(target, Boolean(target.closest("[data-fields], [data-bulk]")));
});
// A select that has the focus opens by the keys that would change it.
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.defaultPrevented || isChord(event) || event.altKey && !key.startsWith("Arrow") || !hasList(target)) return;
  const isLetter = key.length === 1 && key !== " ";
  if (!isLetter && ![" ", "Enter", "ArrowDown", "ArrowUp"].includes(key)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  openList(target, false, isLetter ? key : "");
}, true);
addEventListener("scroll", placeList, { capture: true, passive: true });
addEventListener("resize", placeList);
