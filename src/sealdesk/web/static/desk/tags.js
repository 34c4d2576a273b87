// Tags of the desk are suggested while one is typed; in a field of several, for the last one.
let suggestedCount = 0;
onPart((part, signal) => {
  for (const input of part.querySelectorAll("[data-suggest]")) {
    const { suggest, many } = input.dataset;
    const list = document.createElement("datalist");
    list.id = `suggested-${suggestedCount += 1}`;
    input.after(list);
    input.setAttribute("list", list.id);
    let timer;
    const ask = async () => {
      const { value } = input;
      const before = many === undefined ? "" : value.slice(0, value.lastIndexOf(",") + 1);
      const query = new URLSearchParams({ q: value.slice(before.length).trim() });
      try {
        const response = await fetch(`${suggest}?${query}`, { redirect: "manual", signal });
        if (!response.ok || input.value !== value) return;
        list.innerHTML = await response.text();
        const start = before && `${before} `;
        for (const option of list.children) option.value = start + option.value;
      } catch { /* No network: nothing is suggested. */ }
    };
    const askSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 120);
    };
    input.addEventListener("input", askSoon);
    input.addEventListener("focus", askSoon);
  }
});

// How far tags are renamed, until all of it is done.
onPart((part, signal) => {
  const box = part.querySelector("[data-progress]");
  const renew = async () => {
    if (signal.aborted || !box.querySelector("progress")) return;
    try {
      box.innerHTML = await poll(box.dataset.progress, box) ?? box.innerHTML;
      localize(box);
    } catch { /* No network: the next one tries again. */ }
    setTimeout(renew, 1000);
  };
  if (box) setTimeout(renew, 1000);
});
