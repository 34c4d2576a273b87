// Suggestions below a field of text: tags of the desk, or its customers. What is typed counts until one
// marks an option, so that Enter never takes another (ARIA: combobox, list autocomplete, manual selection).
onPart((part, signal) => {
  for (const input of part.querySelectorAll("[data-suggest]")) {
    const { suggest, many } = input.dataset;
    const createText = input.dataset.create;
    const removeText = input.dataset.remove;
    const fills = input.form?.elements[input.dataset.fills];
    let filled = ""; // The name of who was chosen, which is not that of the next one.
    let options = [];
    let removals = [];
    let at = -1;
    let timer;
    let givenUp = 0; // How often: no list opens for what was asked before.
    const isOpen = () => opened?.select === input;
    const before = () => many === undefined ? "" : input.value.slice(0, input.value.lastIndexOf(",") + 1);
    const typed = () => input.value.slice(before().length).trim();
    const isTyped = ({ text, dataset }) => !dataset.name && identityOf(text) === identityOf(typed());
    const mark = (index) => {
      at = (index + options.length + 1) % (options.length + 1); // After the last one, the text again.
      markLine(opened.pop.firstChild, input, at < options.length ? at : -1);
    };
    const chosen = fills && input.form.elements.customer; // Who may have no address.
    const forget = () => {
      if (chosen) chosen.value = "";
      if (filled && fills.value === filled) fills.value = "";
      filled = "";
    };
    const take = (option) => {
      const start = before();
      forget();
      closeList();
      if (removals.includes(option)) {
        input.value = "";
        removeTag(option.value);
        return leave(input);
      }
      input.value = `${start && `${start} `}${option.value}`;
      if (chosen) chosen.value = option.dataset.customer;
      if (option.dataset.name) fills.value = filled = option.dataset.name;
      if (input.closest("[data-bulk]")) return applyTyped(input);
      if (!input.closest("[data-fields]")) return many === undefined || (input.value += ", ");
      leave(input);
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const show = () => {
      closeList();
      if (options.every(isTyped)) return; // A list that offers nothing new only covers what is below.
      openLines(input, options, take);
      input.ariaExpanded = "true";
      mark(-1);
    };
    const ask = async () => {
      const { value } = input;
      const times = givenUp;
      const words = typed();
      let found;
      try {
        const response = await fetch(`${suggest}?${new URLSearchParams({ q: words })}`, { redirect: "manual", signal });
        if (!response.ok) return;
        found = [...parsePage(await response.text()).querySelectorAll("option")];
      } catch { return; } // No network: nothing is suggested.
      if (input.value !== value || times !== givenUp || document.activeElement !== input) return;
      options = found;
      const isKnown = options.some((each) => identityOf(each.value) === identityOf(words));
      if (createText && words && !isKnown) options.push(new Option(createText.replace("{}", words), words));
      // In the bulk bar: tags that the selected tickets have.
      const there = removeText ? tagsOfChosen().filter((tag) => plain(tag).includes(plain(words))) : [];
      removals = there.map((tag) => new Option(removeText.replace("{}", tag), tag));
      options.push(...removals);
      show();
    };
    const giveUp = () => {
      clearTimeout(timer);
      givenUp += 1;
      closeList();
    };
    const askSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 120);
    };
    Object.assign(input, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
    input.setAttribute("aria-controls", "options");
    input.addEventListener("input", forget);
    input.addEventListener("input", askSoon);
    input.addEventListener("blur", () => isOpen() && closeList());
    input.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.isComposing || !step && !isOpen()) return;
      if (step && isOpen()) mark(at + step);
      else if (step) ask();
      else if (event.key === "Enter" && options[at]) take(options[at]);
      else if (event.key === "Escape") giveUp();
      else return event.key === "Enter" ? giveUp() : undefined;
      event.preventDefault();
      event.stopPropagation();
    });
  }
});
