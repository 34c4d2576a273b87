// Copy buttons and the search; the documentation is complete without scripts.

for (const figure of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  const caption = figure.querySelector("figcaption");
  if (caption) button.setAttribute("aria-label", `Copy: ${caption.textContent}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  // The clipboard API exists only on https and localhost.
  if (navigator.clipboard) figure.append(button);
}

const search = document.querySelector(".search");
const input = search.querySelector("input");
const list = search.querySelector("#results");
const status = search.querySelector("[role=status]");
const MOST = 12;
let index; // a promise of [title, path, [[heading, anchor, text], …]] of each page
let chosen = -1;
search.hidden = false;

const loaded = () => (index ??= fetch(search.dataset.index).then((answer) => answer.json()));

// Sections with more of the words come first. A word counts most in a title, then in a heading.
function found(pages, words) {
  const results = [];
  for (const [title, path, sections] of pages) {
    for (const [place, [heading, anchor, text]] of sections.entries()) {
      const parts = [[title, place ? 3 : 12], [heading, 8], [text, 1]];
      const scores = words.map((word) => Math.max(...parts.map(([part, weight]) => weight * rank(part, word))));
      const fitting = scores.filter(Boolean).length;
      const score = 1000 * fitting + scores.reduce((one, other) => one + other);
      if (fitting) results.push({ score, title, heading, text, url: `${path}#${anchor}`, place });
    }
  }
  return results.sort((one, other) => other.score - one.score || one.place - other.place).slice(0, MOST);
}

// "retry" also finds "retries", "webhooks" also "webhook".
function stem(word) {
  return word.length > 4 && /^\p{L}+$/u.test(word) ? word.replace(/(ies|y|es|s)$/, "") : word;
}

function rank(part, word) {
  const at = part.toLowerCase().indexOf(word);
  if (at < 0) return 0;
  return at === 0 || /[^\p{L}\p{N}]/u.test(part[at - 1]) ? 2 : 1;
}

function marked(text, words) {
  const low = text.toLowerCase();
  const at = Math.min(...words.map((word) => low.indexOf(word)).filter((place) => place >= 0), low.length);
  const start = at > 60 && at < low.length ? at - 40 : 0;
  const excerpt = (start ? "…" : "") + text.slice(start, start + 160);
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  return excerpt.split(new RegExp(`(${pattern})`, "iu")).map((part, place) => {
    if (place % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function span(name, children) {
  const made = document.createElement("span");
  made.className = name;
  made.append(...children);
  return made;
}

function close() {
  list.hidden = true;
  chosen = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function choose(place) {
  const items = [...list.children];
  chosen = (place + items.length) % items.length;
  for (const [each, item] of items.entries()) item.setAttribute("aria-selected", String(each === chosen));
  items[chosen].scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", items[chosen].id);
}

async function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8).map(stem);
  if (!words.length) return close();
  const results = found(await loaded(), words);
  list.replaceChildren(
    ...results.map((each, place) => {
      const item = document.createElement("li");
      item.id = `result-${place}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.url = search.dataset.root + each.url;
      const where = each.place ? `${each.title} › ${each.heading}` : each.title;
      item.append(span("place", marked(where, words)), span("excerpt", marked(each.text, words)));
      return item;
    }),
  );
  status.textContent = results.length ? `${results.length} results` : "Nothing found";
  if (!results.length) return close();
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
  choose(0);
}

const open = (item) => {
  location.assign(item.dataset.url);
  close();
};

input.addEventListener("focus", loaded);
input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && !list.hidden) choose(chosen + step);
  else if (event.key === "Enter" && !list.hidden) open(list.children[chosen]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
input.addEventListener("blur", () => setTimeout(close, 150));
list.addEventListener("pointerdown", (event) => event.preventDefault());
list.addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) open(item);
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
