// Changes of many tickets, which apply at once and can be undone.
const MOST_TICKED = 1000;
// Which tickets a change concerns: those that are ticked, else the one with the focus.
const ticked = () => rows().filter((row) => checkbox(row).checked);
const chosenRows = () => ticked().length ? ticked() : [currentRow()].filter(Boolean);
const bulkBar = () => document.querySelector("[data-bulk]");
const counted = (count, one, many) => count === 1 ? one : many.replace("{}", count);
const nextOf = (page) => page.querySelector("#list .pager [rel=next]");
const wholeLists = new WeakSet();
const showTicked = () => {
  const bar = bulkBar();
  if (!bar) return;
  const count = ticked().length;
  const all = bar.querySelector("[data-all]");
  all.checked = count > 0 && count === rows().length;
  all.indeterminate = count > 0 && !all.checked;
  const label = bar.querySelector("[data-count]");
  label.textContent = count ? label.dataset.count.replace("{}", count) : label.dataset.none;
  const isWhole = !nextOf(document) || wholeLists.has(document.getElementById("rows"));
  bar.querySelector("[data-rest]").hidden = !all.checked || isWhole;
};
// The rest of the view is listed and ticked, too, so that a change concerns all of it.
const listRest = async (button) => {
  const { dataset } = button;
  const list = document.getElementById("rows");
  const known = new Set(rows().map((row) => checkbox(row).value));
  leave(button); // Which loses the focus while it is disabled.
  button.disabled = true; // Or a double click would list each ticket twice.
  try {
    for (let next, page = document; (next = nextOf(page));) {
      if (known.size >= MOST_TICKED) return say(dataset.most);
      const response = await fetch(next.getAttribute("href"), { redirect: "manual" });
      if (!response.ok) throw new Error(response.status);
      page = parsePage(await response.text());
      for (const row of page.querySelectorAll("[data-ticket]")) {
        if (known.has(checkbox(row).value)) continue;
        known.add(checkbox(row).value);
        checkbox(row).checked = true;
        readRow(row);
        list.append(row);
        localize(row);
      }
      showTicked();
    }
    wholeLists.add(list);
    showTicked();
  } catch { say(dataset.rest); } finally { button.disabled = false; }
};
onPart(showTicked);
addEventListener("change", ({ target }) => {
  if (target.matches("[data-all]")) for (const row of rows()) checkbox(row).checked = target.checked;
  if (target.matches("[data-all], [name=ticket]")) showTicked();
});
// Shift selects all from the row that was selected last, by a click or with the keys of the next row.
let lastPicked = null;
const isRange = ({ shiftKey, target }) => shiftKey && target.matches?.("[name=ticket]");
addEventListener("mousedown", (event) => isRange(event) && event.preventDefault()); // No text is selected.
addEventListener("click", (event) => {
  const { target } = event;
  if (!target.matches?.("[name=ticket]")) return;
  const boxes = rows().map(checkbox);
  const [from, to] = [boxes.findIndex((each) => each.value === lastPicked), boxes.indexOf(target)];
  const range = isRange(event) && from >= 0 ? boxes.slice(Math.min(from, to), Math.max(from, to) + 1) : [];
  for (const each of range) each.checked = target.checked;
  lastPicked = target.value;
  showTicked();
});
addEventListener("keydown", (event) => {
  const step = { J: 1, K: -1 }[event.key];
  if (!step || event.defaultPrevented || isOrdinaryKey(event) || !bulkBar()) return;
  event.preventDefault();
  const before = currentRow();
  stepFrom(step);
  for (const row of [before, currentRow()]) if (row) checkbox(row).checked = true;
  showTicked();
});

const tokenOf = (bar) => bar.closest("form").elements.form_token.value;
// Saves a field of a ticket; what undoes it, or null when it was refused.
const saveField = async (address, parameters) => {
  const response = await fetch(address, { method: "POST", body: parameters, redirect: "manual" });
  if (response.type === "opaqueredirect") throw new Error(document.body.dataset.ended);
  const answer = parsePage(await response.text());
  const undo = answer.querySelector("[data-key=z][data-save]")?.dataset.save;
  const before = new URLSearchParams(`${undo}&form_token=${parameters.get("form_token")}`);
  if (!response.ok) throw new Error(answer.querySelector(".fault")?.textContent.trim() ?? "");
  return { undo: undo && (() => saveField(address, before)) };
};
// What a row says of its ticket, in this order, then its tags: places in the values of its list.
const FIELDS_OF_ROWS = ["status", "priority", "assignee_id", "team_id", "snoozed_until", "customer"];
const valuesByRow = new WeakMap(); // A row may be changed, or go to another list.
const readRow = (row) => {
  if (!valuesByRow.has(row)) {
    const texts = JSON.parse(row.parentNode.dataset.values);
    valuesByRow.set(row, row.dataset.ticket.split(" ").map((at) => texts[at]));
  }
  return valuesByRow.get(row);
};
const placeOfField = (field) => field === "tags" ? [FIELDS_OF_ROWS.length, Infinity] : [FIELDS_OF_ROWS.indexOf(field), 1];
const valuesOf = (row, field) => [...readRow(row)].splice(...placeOfField(field));
const isTag = (tag) => (other) => identityOf(other) === identityOf(tag);
const tagsOfChosen = () => [...new Set(chosenRows().flatMap((row) => valuesOf(row, "tags")))];
const parametersOf = (row, field, change) => {
  const before = valuesOf(row, field);
  const parameters = new URLSearchParams({ form_token: tokenOf(bulkBar()), field });
  for (const each of before) parameters.append("was", each);
  for (const each of change(before)) parameters.append("value", each);
  return parameters;
};
// Runs the work for each entry, so many at a time, in order; what failed gives null, and the first
// reason that the server named is `reason`.
const forEachOf = async (entries, work, atOnce = 4) => {
  const results = [];
  const queue = [...entries.entries()];
  const label = bulkBar()?.querySelector("[data-count]");
  const run = async () => {
    for (let next; (next = queue.shift());) {
      if (label) label.textContent = `${next[0] + 1} / ${entries.length}`;
      try {
        results[next[0]] = await work(next[1]);
      } catch ({ name, message }) {
        results[next[0]] = null;
        if (name === "Error") results.reason ||= message; // Else of the browser.
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  return results;
};
// Loads the list again: rows that no longer belong to the view go, and the focus stays at its place.
const reloadList = async () => {
  const number = askedLists += 1;
  const text = await (await fetch(listAddress, { redirect: "manual" })).text();
  const next = parsePage(text);
  if (![document, next].every((each) => each.getElementById("list")) || number < shownList) return;
  shownList = number;
  const place = rows().indexOf(currentRow());
  const { activeElement } = document; // Who writes beside the list goes on.
  const hadFocus = activeElement === document.body || activeElement.closest("#list, [data-bulk]:not(:has(input:focus))");
  const chosen = new Set(ticked().map((row) => checkbox(row).value));
  // The bulk bar stays, for its control may have the focus; an empty list has none.
  const rest = document.querySelector(".tickets") && next.querySelector(".tickets") ? ".tickets" : "#list";
  for (const part of [".tabs", rest]) {
    document.querySelector(part)?.replaceWith(next.querySelector(part));
  }
  localize(document.getElementById("list"));
  for (const row of rows()) checkbox(row).checked = chosen.has(checkbox(row).value);
  showTicked();
  const all = rows();
  const row = currentRow() ?? all[Math.min(place, all.length - 1)];
  markRow(row);
  if (row && hadFocus) linkOf(row).focus({ preventScroll: true });
};
// bar: of the list that was changed; an empty list has none.
const undoButton = (made, bar) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.dataset.key = "z";
  button.textContent = bar.dataset.undo;
  button.addEventListener("click", async () => {
    const undone = await forEachOf(made, ({ undo }) => undo());
    const count = undone.filter(Boolean).length;
    say([counted(count, bar.dataset.undone, bar.dataset.undones), undone.reason].filter(Boolean).join(" · "));
    await reloadList();
  });
  return button;
};
// Says how many were changed and how many were not, once the list is loaded again.
const report = async (bar, results) => {
  const made = results.filter((each) => each?.undo);
  const count = results.filter(Boolean).length;
  const failed = results.length - count;
  const said = [counted(count, bar.dataset.one, bar.dataset.many)];
  if (failed) said.push(counted(failed, bar.dataset.failed, bar.dataset.faileds), results.reason ?? "");
  await reloadList();
  say(said.filter(Boolean).join(" · "), made.length ? undoButton(made, bar) : null);
};
// A change that is asked for while another one runs comes after it, for the same tickets.
let last = Promise.resolve();
const inTurn = (work) => (last = last.then(work, work));
const keepValues = (row, field, values) => readRow(row).splice(...placeOfField(field), ...values);
// change: what the values of the field before become.
const changeRows = async (field, change, chosen = chosenRows()) => {
  const bar = bulkBar();
  if (!chosen.length) return say(bar.dataset.empty);
  await inTurn(async () => {
    const results = await forEachOf(chosen, async (row) => {
      const saved = await saveField(`${linkOf(row).pathname}/fields`, parametersOf(row, field, change));
      if (saved) keepValues(row, field, change(valuesOf(row, field)));
      return saved;
    });
    await report(bar, results);
  });
};
// Where a form leads.
const sendForm = async (address, fields) => {
  const body = new URLSearchParams(fields);
  return (await fetch(address, { method: "POST", body })).url;
};
// The selected tickets are merged into the oldest of them; a single one on its page.
const mergeChosen = async ({ dataset }) => {
  const bar = bulkBar();
  const numberOf = (row) => Number(row.querySelector(".no").textContent.replace(/\D/g, ""));
  const [oldest, ...others] = chosenRows().sort((one, other) => numberOf(one) - numberOf(other));
  if (!oldest) return say(bar.dataset.empty);
  if (!others.length) return location.assign(`${linkOf(oldest).pathname}/merge`);
  const customers = new Set([oldest, ...others].flatMap((row) => valuesOf(row, "customer")));
  if (customers.size > 1 && !confirm(dataset.differ)) return;
  const token = tokenOf(bar);
  const results = await forEachOf(others, async (row) => {
    const address = linkOf(row).pathname;
    const reached = await sendForm(`${address}/merge`, { form_token: token, into: numberOf(oldest) });
    const undo = async () =>
      new URL(await sendForm(`${address}/unmerge`, { form_token: token })).pathname === address;
    return reached.includes("merged=") ? { undo } : null;
  }, 1);
  await report(bar, results);
};
const applyControl = (control) => {
  const field = control.dataset.field;
  const value = control.value;
  if (!value) return;
  const tags = () => value.split(",").map((each) => each.trim()).filter(Boolean);
  if (control.localName !== "button") control.value = "";
  if (field === "tags") changeRows(field, (before) => [...new Set([...before, ...tags()])]);
  else changeRows(field, () => [value === "nobody" ? "" : value]);
};
const removeTag = (tag) => changeRows("tags", (before) => before.filter((each) => !isTag(tag)(each)),
  chosenRows().filter((row) => valuesOf(row, "tags").some(isTag(tag))));
const applyTyped = (input) => {
  applyControl(input);
  leave(input);
};
addEventListener("change", ({ target }) => {
  if (!target.matches("[data-bulk] select[data-field]")) return;
  applyTyped(target);
});
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (!target.closest?.("[data-bulk]")) return;
  if (key === "Enter" && target.matches("input[data-field]")) {
    event.preventDefault();
    applyTyped(target);
  } else if (key === "Escape") {
    event.preventDefault();
    focusRow(currentRow() ?? rows()[0]);
  }
});
// Escape in the list ends the selection.
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || isMenuOpen() || event.target.closest(`${FIELDS}, dialog`)) return;
  for (const row of ticked()) checkbox(row).checked = false;
  showTicked();
});
// A form is of the tickets that are ticked.
const tickChosen = (event) => {
  const chosen = chosenRows();
  for (const row of chosen) checkbox(row).checked = true;
  if (chosen.length) return;
  event.preventDefault();
  say(bulkBar().dataset.empty);
};
addEventListener("click", (event) => {
  const button = event.target.closest("[data-bulk] button");
  if (!button) return;
  const goes = button.dataset.goes;
  if ("selects" in button.dataset) tickChosen(event);
  else if ("rest" in button.dataset) listRest(button);
  else if ("differ" in button.dataset) mergeChosen(button);
  else if (button.dataset.step) stepFrom(Number(button.dataset.step));
  else if (button.dataset.field) applyControl(button);
  else if (goes) {
    const [row] = chosenRows();
    if (row) openTicket(`${linkOf(row).href}#${goes}`);
    else say(bulkBar().dataset.empty);
  }
});
