// The palette: what the page can do, views, pages, macros, people, customers, and the last tickets.
const palette = document.getElementById("palette");
const VISITED = "visited";
const MAX_VISITED = 10;
const visitedTickets = () => {
  try {
    const visited = JSON.parse(localStorage.getItem(VISITED));
    return visited?.reader === palette.dataset.reader ? visited.tickets : [];
  } catch { return []; }
};
onPart((part) => {
  const ticket = part.querySelector("[data-visited]");
  if (!ticket || !palette) return;
  const tickets = [
    { address: ticket.dataset.visited, subject: ticket.textContent.trim() },
    ...visitedTickets().filter((each) => each.address !== ticket.dataset.visited),
  ].slice(0, MAX_VISITED);
  try {
    const visited = { reader: palette.dataset.reader, tickets };
    localStorage.setItem(VISITED, JSON.stringify(visited));
  } catch { /* Storage is disabled. */ }
});
// Nobody who uses this browser afterwards sees them.
addEventListener("submit", ({ target }) => {
  if (!target.matches("[data-logs-out]")) return;
  try {
    localStorage.removeItem(VISITED);
  } catch { /* Storage is disabled. */ }
});

if (palette) {
  const field = palette.querySelector("input");
  const list = palette.querySelector("[role=listbox]");
  let choices = []; // What is listed: { group, label, run }.
  let chosen = 0;
  let people = [], customers = [];
  let wantPerson = null; // Called with the person who is chosen, while a field asks for one.
  const goTo = (address) => () => location.assign(address);
  const followed = (group, selector) => [...document.querySelectorAll(selector)].map((link) =>
    ({ group, label: link.textContent.trim().replace(/\s+/g, " "), run: () => link.click() }));
  const actions = () => [...keyedControls().values()]
    .filter((control) => !control.closest("dialog, [data-ticket]") && control.dataset.opens !== "palette")
    .map((control) => ({
      group: palette.dataset.actions, label: nameOf(control), key: control.dataset.key,
      run: () => pressControl(control),
    }));
  const visited = () => visitedTickets().map(({ address, subject }) =>
    ({ group: palette.dataset.tickets, label: subject, run: goTo(address) }));
  const byPerson = ({ id, name, address }) => ({
    group: palette.dataset.persons, label: name,
    run: () => wantPerson ? wantPerson({ id, name }) : location.assign(address),
  });
  const macros = () => macroOptions().map(({ value, textContent }) => ({
    group: palette.dataset.macros, label: textContent, macro: value, run: () => insertMacro(value),
  }));
  const search = (words) => {
    const number = /^#?(\d{1,15})$/.exec(words)?.[1];
    const address = `${palette.dataset.root}/tickets`;
    return [
      ...(number ? [{ group: palette.dataset.tickets, label: `#${number}`, run: goTo(`${address}/${number}`) }] : []),
      { group: palette.dataset.search, label: words, run: goTo(`${address}?${new URLSearchParams({ q: words })}`) },
    ];
  };
  const matching = (words) => {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    const { only } = palette.dataset; // "macros", or empty
    const found = wantPerson ? people.map(byPerson) : (only ? macros() : [
      ...actions(), ...(words ? macros() : []), ...followed(palette.dataset.views, ".views a"), ...followed(palette.dataset.pages, ".rooms a"),
      ...visited(), ...people.map(byPerson),
    ]).filter(({ label }) => parts.every((part) => label.toLowerCase().includes(part)));
    if (!words || wantPerson || only) return found;
    const [near, far] = customers[0]?.isExact ? [customers, []] : [[], customers];
    return [...(/^#?\d+$/.test(words) ? [] : found), ...near, ...search(words), ...far];
  };
  const preview = palette.querySelector("[data-preview]");
  let looking;
  const showPreview = (macro) => {
    clearTimeout(looking);
    preview.replaceChildren();
    if (macro) looking = setTimeout(async () => {
      try {
        const shown = await loadMacro(macro);
        if (choices[chosen]?.macro === macro) preview.replaceChildren(...shown.childNodes);
      } catch { /* There is no network, or the macro was deleted. */ }
    }, 120);
  };
  const mark = (index) => {
    const options = [...list.querySelectorAll("[role=option]")];
    chosen = Math.max(0, Math.min(index, options.length - 1));
    options.forEach((option, place) => option.setAttribute("aria-selected", place === chosen));
    options[chosen]?.scrollIntoView({ block: "nearest" });
    if (options.length) field.setAttribute("aria-activedescendant", options[chosen].id);
    else field.removeAttribute("aria-activedescendant");
    showPreview(choices[chosen]?.macro);
  };
  const show = () => {
    choices = matching(field.value.trim());
    const groups = new Map();
    choices.forEach(({ group, label, key }, index) => {
      const option = document.createElement("div");
      const name = document.createElement("bdi");
      option.id = `choice-${index}`;
      option.role = "option";
      name.textContent = label;
      option.append(name);
      if (key) {
        const cap = document.createElement("kbd");
        cap.textContent = key;
        option.append(" ", cap);
      }
      option.addEventListener("click", () => take(index));
      if (!groups.has(group)) {
        const part = document.createElement("div");
        const heading = document.createElement("p");
        part.role = "group";
        part.ariaLabel = group;
        heading.textContent = group;
        heading.ariaHidden = "true";
        part.append(heading);
        groups.set(group, part);
      }
      groups.get(group).append(option);
    });
    list.replaceChildren(...groups.values());
    palette.querySelector("[data-nothing]").hidden = choices.length > 0;
    field.ariaExpanded = String(choices.length > 0);
    mark(0);
  };
  const take = (index) => {
    const choice = choices[index];
    if (!choice) return;
    closeDialog(palette);
    choice.run();
  };
  let asking = new AbortController();
  const find = async () => {
    const words = field.value.trim();
    asking.abort();
    asking = new AbortController();
    if (!words) return;
    const { root } = palette.dataset;
    const { signal } = asking;
    const ask = async (path) => {
      const response = await fetch(`${root}${path}?${new URLSearchParams({ q: words })}`, { signal, redirect: "manual" });
      return parsePage(response.ok ? await response.text() : "");
    };
    try {
      const [ofDesk, others] = await Promise.all([ask("/tickets/people"), ask("/customers/suggestions")]);
      people = [...ofDesk.querySelectorAll("[data-person]")].map((link) => ({
        id: link.dataset.person, name: link.textContent, address: link.getAttribute("href"),
      }));
      customers = [...others.querySelectorAll("[data-customer]")].map(({ textContent, dataset }) => ({
        group: palette.dataset.customers, label: [textContent, dataset.more].filter(Boolean).join(", "),
        isExact: [textContent, ...dataset.more.split(" · ")].some((each) => identityOf(each) === identityOf(words)),
        run: goTo(`${root}/customers/${dataset.customer}`),
      })).sort((one, other) => other.isExact - one.isExact);
      show();
    } catch { /* The next letter was typed, or there is no network. */ }
  };
  let typing;
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(find, 120);
    people = customers = [];
    show();
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark(chosen + step);
    else if (event.key === "Enter") take(chosen);
    else return;
    event.preventDefault();
  });
  palette.addEventListener("beforetoggle", ({ newState }) => {
    if (newState !== "open") return;
    field.value = "";
    people = customers = [];
    show();
  });
  palette.addEventListener("close", () => {
    wantPerson = null;
    palette.dataset.only = "";
  });

  // More people than a field lists are searched for. Its options may be replaced at any time.
  let before;
  addEventListener("focusin", ({ target: select }) => {
    const option = select.querySelector?.("select > option[data-search]");
    if (!option) return;
    before = select.value;
    option.disabled = false;
    option.value = "search";
    option.textContent = option.dataset.search;
  });
  addEventListener("change", (event) => {
    const select = event.target;
    if (!select.querySelector("select > option[data-search]")) return;
    if (select.value !== "search") return (before = select.value);
    event.stopPropagation();
    select.value = before;
    wantPerson = ({ id, name }) => {
      select.append(new Option(name, id, false, true));
      select.dispatchEvent(new Event("change", { bubbles: true }));
      select.focus();
    };
    palette.showModal();
  }, true);
}
