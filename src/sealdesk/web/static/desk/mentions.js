// "@" in the composer offers the people of the desk, who are in the list of assignees already.
onPart((part, signal) => {
  const reply = part.querySelector("[data-draft]");
  const people = part.querySelector("select[name=assignee_id]");
  if (!reply?.showPopover || !people) return;
  let options = [];
  let at = -1; // None before the first letter, so that Enter begins a line.
  const isOpen = () => opened?.select === reply;
  const typed = () => {
    const before = reply.value.slice(Math.max(0, reply.selectionStart - 100), reply.selectionStart);
    return /(?<![\p{L}\p{N}_@.+-])@([\p{L}\p{N}'-]*(?: [\p{L}\p{N}'-]*)?)$/u.exec(before);
  };
  const mark = (index) => {
    at = (index + options.length) % options.length;
    markLine(opened.pop.firstChild, reply, at);
  };
  const take = (option) => {
    const [text] = typed() ?? [];
    closeList();
    if (!text) return;
    reply.setSelectionRange(reply.selectionStart - text.length, reply.selectionStart);
    document.execCommand("insertText", false, `@${option.text} `);
  };
  const show = () => {
    if (isOpen()) closeList();
    const [, name] = typed() ?? [];
    if (name === undefined) return;
    const query = plain(name);
    options = rankedOptions(people, query).filter(({ value, dataset }) => value && !("me" in dataset)).slice(0, 8);
    if (!options.length || options.some(({ text }) => plain(text) === query)) return;
    openLines(reply, options, take);
    at = -1;
    if (query) mark(0);
  };
  reply.addEventListener("input", show, { signal });
  reply.addEventListener("blur", () => isOpen() && closeList(), { signal });
  reply.addEventListener("keydown", (event) => {
    const { key } = event;
    if (!isOpen() || event.isComposing || isChord(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step) mark(at < 0 && step < 0 ? -1 : at + step);
    else if (["Enter", "Tab"].includes(key) && options[at]) take(options[at]);
    else if (key === "Escape") closeList();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { signal });
});
