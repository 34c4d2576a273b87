// Fields of a ticket are saved one by one, each when it is chosen, and each can be undone for 10 s.
const UNDO_MS = 10000;

// Sends one field and shows beside it what became of it; whether it was saved. Lists may call it too.
const sendField = async (address, parameters, state, texts) => {
  state.textContent = texts.saving;
  let response = null;
  try {
    // Kept alive: the page may be left before the response.
    response = await fetch(address, {
      method: "POST", body: parameters, redirect: "manual", keepalive: true,
    });
  } catch { /* No network. */ }
  if (!response || ![200, 409, 412, 422].includes(response.status)) return false;
  state.innerHTML = await response.text();
  localize(state);
  return response.ok;
};

onPart((part, signal) => {
  const ticketFields = part.querySelector("[data-fields]");
  if (!ticketFields) return;
  const { dataset } = ticketFields;
  const texts = { saving: dataset.saving, failed: dataset.failed, again: dataset.again };
  const address = `${ticketFields.getAttribute("action")}/fields`;
  const { form_token: formToken, new_tags: newTags } = ticketFields.elements;
  // The subject is edited in the heading.
  const head = part.querySelector(".ticket-head");
  const queryAll = (what) => [ticketFields, head].flatMap((each) => [...each.querySelectorAll(what)]);
  const groupOf = (field) => queryAll(`[data-field=${field}]`)[0];
  const stateOf = (field) => groupOf(field).querySelector("[data-state]");
  const inputOf = (field) => ticketFields.elements[field];
  const boxes = () => [...groupOf("tags").querySelectorAll("[type=checkbox]")];
  const chosenTags = () => {
    const known = new Map(boxes().map((box) => [identityOf(box.value), box.value]));
    const typed = newTags.value.split(",").map((each) => each.trim()).filter(Boolean);
    for (const each of typed) if (!known.has(identityOf(each))) known.set(identityOf(each), each);
    const checked = boxes().filter((box) => box.checked).map((box) => box.value);
    return [...new Set([...checked, ...typed.map((each) => known.get(identityOf(each)))])];
  };
  const chosen = (field) => field === "tags"
    ? chosenTags()
    : [inputOf(field).type === "checkbox" && !inputOf(field).checked ? "" : inputOf(field).value];
  const saved = {}; // By field, what the server has.
  for (const { dataset: { field } } of queryAll("[data-field]")) {
    const before = ticketFields.querySelectorAll(`[name=was_${field}]`);
    saved[field] = [...before].map((each) => each.value);
  }
  const keep = (field, values) => {
    saved[field] = values;
    if (field === "subject") part.querySelector("h1 bdi").textContent = values[0];
  };
  // Controls change what they are given: one of a single line drops line ends.
  const asShown = (field, value) => inputOf(field)?.matches?.("input, textarea")
    ? Object.assign(inputOf(field).cloneNode(), { value }).value
    : value;
  const isSaved = (field) => chosen(field).join("\n")
    === saved[field].map((value) => asShown(field, value)).join("\n");
  // What the chosen option shows in its list stands before the value, too.
  const drawSign = (select) => {
    select.parentElement.querySelector(":scope > .sign")?.remove();
    if (select.selectedIndex >= 0) select.before(signOf(select.options[select.selectedIndex]));
  };
  const drawSigns = () => ticketFields.querySelectorAll("[data-field] > select").forEach(drawSign);
  const show = (field, values) => {
    if (field !== "tags") {
      if (inputOf(field).type === "checkbox") inputOf(field).checked = values[0] !== "";
      else inputOf(field).value = values[0];
    } else {
      newTags.value = "";
      for (const tag of values) {
        if (boxes().some((box) => box.value === tag)) continue;
        const label = document.createElement("label");
        const box = Object.assign(document.createElement("input"),
          { type: "checkbox", name: "tags", value: tag });
        const name = document.createElement("bdi");
        label.className = "check tag";
        name.textContent = tag;
        label.append(box, " ", name);
        newTags.labels[0].before(label);
      }
      for (const box of boxes()) box.checked = values.includes(box.value);
    }
    drawSigns();
  };
  const offerAgain = (field) => {
    const line = document.createElement("p");
    const again = Object.assign(document.createElement("button"),
      { type: "button", className: "quiet", textContent: texts.again });
    line.className = "fault";
    again.addEventListener("click", () => save(field));
    line.append(texts.failed, " ", again);
    stateOf(field).replaceChildren(line);
  };
  // What the fragment says about the rest of the page: its marks, its newest change, its version.
  const takeParts = (state) => {
    const [marks, entry, version] = ["[data-marks]", "[data-entry]", "[data-etag]"].map(
      (each) => state.querySelector(each));
    if (marks) part.querySelector("[data-marks]:not([data-state] *)").replaceChildren(...marks.childNodes);
    const timeline = part.querySelector("[data-timeline]");
    if (entry && timeline && !timeline.querySelector(`#change-${entry.dataset.entry}`)) {
      timeline.append(...entry.childNodes);
    }
    for (const each of [marks, entry]) each?.remove();
    if (!version) return;
    const [etag, before] = [version.dataset.etag, version.dataset.before];
    for (const each of part.querySelectorAll("[name=etag]")) {
      if (each.value === before) each.value = etag;
    }
    const news = part.querySelector("[data-news]");
    const query = (value) => new URLSearchParams({ state: value });
    if (news) news.dataset.news = news.dataset.news.replace(query(before), query(etag));
  };
  const send = async (field, parameters, values) => {
    const state = stateOf(field);
    if (!await sendField(address, parameters, state, texts)) {
      if (!state.firstElementChild) offerAgain(field);
      return false;
    }
    keep(field, values);
    takeParts(state);
    dispatch("desk:saved");
    const undo = state.querySelector("[data-save]");
    // The key undoes the last change.
    for (const each of queryAll("[data-key=z]")) if (each !== undo) delete each.dataset.key;
    if (undo) setTimeout(() => {
      if (document.activeElement === undo) leave(undo);
      if (undo.isConnected) state.replaceChildren();
    }, UNDO_MS);
    return true;
  };
  const parametersOf = (field, values) => {
    const parameters = new URLSearchParams({ form_token: formToken.value, field });
    for (const value of values) parameters.append("value", value);
    for (const value of saved[field]) parameters.append("was", value);
    return parameters;
  };
  const running = new Set();
  const save = async (field) => {
    if (running.has(field)) return; // The newest choice is sent when the response is here.
    running.add(field);
    try {
      while (!isSaved(field)) {
        const values = chosen(field);
        if (!await send(field, parametersOf(field, values), values)) break;
      }
      if (field === "tags" && isSaved(field)) show(field, saved[field]); // Nothing typed is left.
    } finally { running.delete(field); }
  };
  ticketFields.querySelector("[data-plain]").hidden = true;
  const saveChanged = ({ target }) => {
    drawSigns();
    const field = target.closest("[data-field]")?.dataset.field;
    if (field) save(field);
  };
  ticketFields.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const field of Object.keys(saved)) if (!isSaved(field)) save(field);
    leave(ticketFields);
  });
  // Undo, and the two ways out of a conflict: buttons within the state of a field.
  const press = async ({ target }) => {
    if (target.dataset.sets) {
      const { field } = target.closest("[data-field]")?.dataset ?? { field: "status" };
      show(field, [target.dataset.sets]);
      if (document.activeElement === target) leave(target); // It hides once it has no effect.
      return save(field);
    }
    const button = target.closest("[data-save], [data-reset]");
    if (!button) return;
    const { field } = button.closest("[data-field]").dataset;
    const parameters = new URLSearchParams(button.dataset.save ?? button.dataset.reset);
    const values = parameters.getAll("value").filter((value) => field !== "tags" || value);
    parameters.set("form_token", formToken.value);
    leave(button);
    if ("reset" in button.dataset) {
      keep(field, values);
      show(field, values);
      stateOf(field).replaceChildren();
    } else if (await send(field, parameters, values)) show(field, values);
  };
  for (const each of [ticketFields, head]) each.addEventListener("change", saveChanged);
  for (const each of [ticketFields, head, part.querySelector(".ticket-bar")]) each.addEventListener("click", press);
  const heading = head.querySelector("h1");
  heading.addEventListener("click", () => getSelection().isCollapsed && inputOf("subject").select());
  // Escape gives up what was typed, or leaving the field would save it.
  const giveUp = ({ key, target, defaultPrevented }) => {
    const field = target.closest("[data-field]")?.dataset.field;
    const isTyped = target === newTags || target.localName !== "select" && target === inputOf(field);
    if (key === "Escape" && isTyped && !defaultPrevented) show(field, saved[field]);
  };
  for (const each of [ticketFields, head]) each.addEventListener("keydown", giveUp);
  // Somebody else has changed a field: it is shown, unless it has a choice that is not saved.
  document.addEventListener("desk:fields", ({ detail: page }) => {
    // A closed ticket has a second form with the same fields, which reopens it.
    const detail = page.querySelector("[data-fields]") ?? page;
    for (const field of Object.keys(saved)) {
      const values = [...detail.querySelectorAll(`[name=was_${field}]`)].map((each) => each.value);
      const isSame = values.join("\n") === saved[field].join("\n");
      if (isSame || !values.length && field !== "tags" || !isSaved(field) || running.has(field)) continue;
      const options = detail.querySelector(`[data-field=${field}] select`)?.children ?? [];
      if (options.length) inputOf(field).replaceChildren(...options);
      keep(field, values);
      show(field, values);
    }
  }, { signal });
  // A macro chooses a field, which then goes along with the reply.
  document.addEventListener("desk:choose", ({ detail: wanted }) => {
    const { field, value } = wanted.dataset;
    if (field === "tags") show(field, [...chosen(field), value]);
    else {
      const { options } = ticketFields.elements[field];
      const isListed = [...options].some((each) => each.value === value);
      if (!isListed) options.add(new Option(wanted.dataset.name, value));
      show(field, [value]);
    }
    const undo = Object.assign(document.createElement("button"),
      { type: "button", className: "quiet", textContent: dataset.undo });
    undo.dataset.reset = new URLSearchParams(saved[field].map((each) => ["value", each]));
    stateOf(field).replaceChildren(dataset.along, " ", undo);
  }, { signal });
  // What is not saved yet goes along with a reply.
  let isSending = false;
  addEventListener("formdata", ({ target, formData }) => {
    if (target.id !== "composer") return;
    for (const field of Object.keys(saved).filter((each) => !isSaved(each))) {
      if (field === "tags") formData.append("was_set_tags", ""); // There may be none.
      for (const value of saved[field]) formData.append(`was_set_${field}`, value);
      for (const value of chosen(field)) formData.append(`set_${field}`, value);
    }
  }, { signal });
  addEventListener("submit", ({ defaultPrevented }) => (isSending ||= !defaultPrevented),
    { signal });
  const offerUnsaved = () => {
    isSending = false;
    drawSigns();
    for (const field of Object.keys(saved)) if (!isSaved(field)) offerAgain(field);
  };
  offerUnsaved(); // A rejected form, or one that the browser has filled in again.
  addEventListener("pageshow", offerUnsaved, { signal });
  addEventListener("beforeunload", (event) => {
    const isWaiting = (field) => !isSaved(field) && !running.has(field);
    if (!isSending && Object.keys(saved).some(isWaiting)) event.preventDefault();
  }, { signal });
});
