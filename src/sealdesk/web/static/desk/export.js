// A CSV file is fetched with a progress bar, then saved. Only the ends of its rows have a CR.
onPart((part) => {
  const box = part.querySelector("[data-export]");
  const [link, bar, state] = box?.children ?? [];
  link?.addEventListener("click", async (event) => {
    event.preventDefault();
    if (!bar.hidden) return;
    bar.hidden = false;
    state.textContent = "";
    const chunks = [];
    let rows = -1; // The first one is the header.
    try {
      const response = await fetch(link.href, { redirect: "manual" });
      if (!response.ok) throw response;
      const reader = response.body.getReader();
      for (let next; !(next = await reader.read()).done;) {
        chunks.push(next.value);
        for (const byte of next.value) if (byte === 13) rows += 1;
        if (bar.hasAttribute("max")) bar.value = rows;
        state.textContent = state.dataset.rows.replace("{}", rows.toLocaleString(region));
      }
      const href = URL.createObjectURL(new Blob(chunks, { type: "text/csv" }));
      Object.assign(document.createElement("a"), { href, download: link.dataset.name }).click();
      state.textContent = state.dataset.saved.replace("{}", rows.toLocaleString(region));
      setTimeout(() => URL.revokeObjectURL(href), 60000);
    } catch {
      state.textContent = state.dataset.failed;
    }
    bar.hidden = true;
  });
});
