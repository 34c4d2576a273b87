// Files of the composer: picked, dropped or pasted, sent one after the other with their progress.
onPart((part, signal) => {
  const tools = part.querySelector("[data-uploads]");
  if (!tools) return;
  const address = tools.dataset.uploads;
  const remove = tools.dataset.remove;
  const form = tools.closest("form");
  const list = tools.querySelector("ul");
  const state = tools.querySelector("[data-upload-state]");
  const label = tools.querySelector("[data-picks]");
  const picker = label.querySelector("input");
  label.hidden = false;
  tools.querySelector("[data-plain]").hidden = true;
  let last = Promise.resolve();

  const button = (name) => {
    const made = Object.assign(document.createElement("button"),
      { type: "button", className: "quiet", textContent: remove });
    made.setAttribute("aria-label", `${remove}: ${name}`);
    return made;
  };
  const send = (file, row, bar) => new Promise((resolve) => {
    if (!row.isConnected) {
      resolve();
      return;
    }
    const request = new XMLHttpRequest();
    const end = (text) => {
      if (request.status === 201) {
        row.insertAdjacentHTML("afterend", text);
        row.remove();
        state.textContent = "";
      } else if (row.isConnected) {
        const template = document.createElement("template");
        template.innerHTML = text;
        state.replaceChildren(`${file.name}: `, template.content.textContent.trim() || tools.dataset.failed);
        row.remove();
      }
      resolve();
    };
    request.open("POST", `${address}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("x-form-token", form.elements.form_token.value);
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) => { bar.value = loaded / total; });
    const ours = () => request.getResponseHeader("x-fragment") !== null;
    request.addEventListener("load", () => end(ours() ? request.responseText : ""));
    for (const ending of ["error", "abort", "timeout"]) request.addEventListener(ending, () => end(""));
    row.addEventListener("desk:remove", () => request.abort());
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
  const add = (files) => {
    for (const file of files) {
      if (list.children.length >= 20) {
        state.textContent = tools.dataset.most;
        return;
      }
      const row = document.createElement("li");
      const name = Object.assign(document.createElement("bdi"), { textContent: file.name });
      const bar = Object.assign(document.createElement("progress"), { max: 1, value: 0 });
      bar.setAttribute("aria-label", file.name);
      row.dataset.upload = "unfinished";
      const stop = button(file.name);
      stop.dataset.removes = "";
      row.append(name, " ", bar, " ", stop);
      list.append(row);
      last = last.then(() => send(file, row, bar));
    }
  };

  picker.addEventListener("change", () => {
    add(picker.files);
    picker.value = "";
  }, { signal });
  form.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) event.preventDefault();
    add(event.clipboardData.files);
  }, { signal });
  const hasFiles = ({ dataTransfer }) => [...dataTransfer.types].includes("Files");
  form.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    form.classList.add("takes");
  }, { signal });
  form.addEventListener("dragleave", () => form.classList.remove("takes"), { signal });
  form.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    form.classList.remove("takes");
    add(event.dataTransfer.files);
  }, { signal });
  list.addEventListener("click", ({ target }) => {
    const row = target.closest("[data-removes]")?.closest("li");
    if (!row) return;
    row.dispatchEvent(new Event("desk:remove"));
    row.remove();
    picker.focus();
  }, { signal });
  form.addEventListener("submit", (event) => {
    if (!list.querySelector("[data-upload=unfinished]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    state.textContent = tools.dataset.waits;
  }, { signal, capture: true });
});
