// Chromium 156 does not choose the value "" of a RadioNodeList.
const choose = (radios, value) => {
  for (const each of radios) if (each.value === value) each.checked = true;
};
// The draft of a reply is stored in this browser until it is sent.
onPart((part, signal) => {
  const reply = part.querySelector("textarea[data-draft]");
  if (!reply) return;
  const key = `draft ${reply.dataset.draft}`;
  const { is_internal: kind, status, offered } = reply.form.elements;
  const [send, sends] = part.querySelectorAll("[data-sends], .sends details");
  const plain = [...send.childNodes];
  // The button says what it does.
  const drawSend = () => {
    const way = sends.querySelector("[name=status]:checked");
    send.replaceChildren(...way?.value ? way.nextElementSibling.cloneNode(true).childNodes : plain);
  };
  const mark = part.querySelector("[data-draft-mark]");
  const save = () => {
    mark.hidden = !reply.value.trim();
    try {
      if (reply.value.trim()) {
        const draft = { body: reply.value, isNote: kind.value === "yes", status: status.value };
        localStorage.setItem(key, JSON.stringify(draft));
      } else localStorage.removeItem(key);
    } catch { /* Storage is disabled. */ }
  };
  const restore = () => {
    try {
      if ("done" in reply.dataset) localStorage.removeItem(key);
      const draft = JSON.parse(localStorage.getItem(key));
      if (!draft || reply.value) return;
      reply.value = draft.body;
      choose(kind, draft.isNote ? "yes" : "");
      choose(status, draft.status); // Without effect if the ticket has it already.
    } catch { /* Storage is disabled, or the draft is invalid. */ }
  };
  restore();
  save();
  drawSend();
  // What is remembered of replies is not for notes; what is chosen stays.
  const remembered = offered.value;
  offered.value = "";
  reply.form.addEventListener("input", ({ target }) => {
    if (target.name !== "is_internal" || status.value !== (target.value ? remembered : "")) return;
    choose(status, target.value ? "" : remembered);
  });
  for (const listener of [save, drawSend]) reply.form.addEventListener("input", listener);
  // A click on a way sends; keys choose one.
  sends.addEventListener("click", ({ target, detail }) => {
    const way = detail && target.closest(".way")?.querySelector("input");
    if (!way || way === target) return;
    way.checked = true;
    drawSend();
    reply.form.requestSubmit(send);
  });
  // The page that follows may be one of another ticket.
  reply.form.addEventListener("submit", () => {
    try {
      sessionStorage.submitted = key;
    } catch { /* Storage is disabled. */ }
  });
  if (part === document) enter(part, location.href);
  // The menu of the ways to send closes when the focus or a click goes elsewhere.
  const closeSends = ({ target }) => {
    if (!sends.contains(target)) sends.open = false;
  };
  // Or a press on a label would put the focus on the page (and end Chromium 156).
  sends.lastElementChild.addEventListener("mousedown", (event) => event.preventDefault());
  for (const event of ["focusin", "click"]) document.addEventListener(event, closeSends, { signal });
});

// A ticket opens at its newest message, or at what its page has to say.
onPart((part) => {
  const newest = [...part.querySelectorAll("[data-timeline] > .message")].at(-1);
  if (newest && !location.hash && !location.search.includes("before=")) newest.scrollIntoView({ block: "nearest" });
  part.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
});

// The address of the page that follows "Send and next" names the ticket whose reply is stored: its
// draft is deleted if this window has sent it.
onPart((part) => {
  const [, ticketId] = /^#(?:sent|held)-([0-9a-f-]+)$/.exec(location.hash) ?? [];
  if (part !== document || !ticketId) return;
  if (location.hash.startsWith("#sent")) say(document.body.dataset.delivered);
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const key = sessionStorage.submitted;
    if (key?.startsWith(`draft ${ticketId} `)) localStorage.removeItem(key);
    delete sessionStorage.submitted;
  } catch { /* Storage is disabled. */ }
});

// A reply that can be undone until it leaves: its seconds are counted, then the page looks for it.
const LEAVES_WITHIN_MS = 2000; // The worker looks twice a second.
onPart((part) => {
  for (const leaving of part.querySelectorAll("[data-leaves]")) {
    const leavesAt = performance.now() + 1000 * leaving.dataset.leaves;
    const timer = setInterval(() => {
      const left = Math.ceil((leavesAt - performance.now()) / 1000);
      leaving.querySelector("[data-seconds]").textContent = Math.max(left, 0);
      if (left > 0) return;
      clearInterval(timer);
      (leaving.matches(":only-child") ? leaving.parentElement : leaving).remove();
      setTimeout(() => document.dispatchEvent(new CustomEvent("desk:missed")), LEAVES_WITHIN_MS);
    }, 200);
  }
});
