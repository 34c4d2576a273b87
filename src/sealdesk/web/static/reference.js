// Copy buttons, a filter and the current section; the documentation is complete without scripts.

for (const figure of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${figure.querySelector("figcaption").textContent}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  // The clipboard API exists only on https and localhost.
  if (navigator.clipboard) figure.append(button);
}

const side = document.querySelector(".side");
const filter = side.querySelector(".filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const text = filter.value.trim().toLowerCase();
  for (const list of side.querySelectorAll("ul")) {
    const items = [...list.children];
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
    const isEmpty = items.every((item) => item.hidden);
    const heading = list.previousElementSibling;
    list.hidden = isEmpty;
    if (heading?.matches("h2")) heading.hidden = isEmpty;
  }
});

const links = new Map([...side.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const visible = new Set();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) visible.add(target.id);
      else visible.delete(target.id);
    }
    // The innermost of nested sections comes last in the document.
    const current = [...links.keys()].filter((id) => visible.has(id)).pop();
    for (const [id, link] of links) {
      if (id === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "-15% 0px -80% 0px" },
);
for (const id of links.keys()) {
  const section = document.getElementById(id);
  if (section) watcher.observe(section);
}
