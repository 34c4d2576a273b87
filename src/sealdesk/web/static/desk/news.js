// An open ticket: replies and changes of others come in place, and a draft is announced to others.

// The HTML of an element as the server sent it, without what scripts and
// the reader have done to it.
const sentHTML = (element) => {
  const copy = element.cloneNode(true);
  copy.classList.remove("fresh");
  if (!copy.classList.length) copy.removeAttribute("class");
  for (const time of copy.querySelectorAll("time[title]")) {
    time.textContent = `${time.dateTime.slice(0, 19).replace("T", " ")} UTC`;
    time.removeAttribute("title");
  }
  for (const quote of copy.querySelectorAll("details[open]")) quote.open = false;
  return copy.outerHTML;
};
// Makes the children of an element those of another; those that are equal stay, with their focus.
const renewChildren = (old, next) => {
  const kept = new Map([...old.children].map((each) => [sentHTML(each), each]));
  let place = old.firstElementChild;
  for (const each of [...next.children]) {
    const same = kept.get(each.outerHTML);
    if (same && same === place) {
      place = place.nextElementSibling;
      continue;
    }
    const node = same ?? document.adoptNode(each);
    if (!same) node.classList.add("fresh");
    old.insertBefore(node, place);
    if (!same) localize(node);
  }
  while (place) {
    const gone = place;
    place = place.nextElementSibling;
    gone.remove();
  }
};

onPart((part, signal) => {
  const news = part.querySelector("[data-news]");
  if (!news) return;
  const { topic } = news.dataset;
  const reply = part.querySelector("textarea[data-draft]");
  let [asked, shown] = [0, 0]; // An older response does not replace a newer one.
  const show = async (options) => {
    const number = asked += 1;
    const text = await poll(news.dataset.news, news, options);
    if (text === null || number < shown) return;
    shown = number;
    if (text.trim() !== news.innerHTML.trim()) news.innerHTML = text;
  };
  const token = () => document.querySelector("[name=form_token]").value;
  const tell = async (writing) => {
    const body = new URLSearchParams({ form_token: token(), writing });
    await show({ method: "POST", body });
  };
  let hasDraft = false;
  let updatedAt = performance.now(); // The page itself was up to date.
  const update = async () => {
    const hadDraft = hasDraft;
    hasDraft = Boolean(reply?.value.trim());
    const isDue = performance.now() - updatedAt >= 20000 || hasDraft !== hadDraft;
    if (document.hidden || !isDue) return;
    updatedAt = performance.now();
    try {
      if (hasDraft || hadDraft) await tell(hasDraft ? "yes" : "no");
      else await show();
    } catch { /* No network: try again at the next interval. */ }
  };

  // The page itself, for what has changed on it. Once another ticket stands in its place, nothing.
  let savedAt = 0; // When a field of this page was last saved.
  document.addEventListener("desk:saved", () => (savedAt = performance.now()), { signal });
  const renew = paced(async () => {
    if (document.hidden || signal.aborted) return;
    const askedAt = performance.now();
    const text = await poll(news.dataset.news.replace(/\/answering.*/, ""), news, { signal });
    if (text === null) return;
    if (savedAt > askedAt) return renew(); // The page may be older than that.
    const next = parsePage(text);
    const anchor = reply ?? news;
    const top = anchor.getBoundingClientRect().top;
    for (const old of part.querySelectorAll("[data-renewed]")) {
      const fresh = next.querySelector(`[data-renewed=${old.dataset.renewed}]`);
      if (fresh) renewChildren(old, fresh);
    }
    const [seen, nextSeen] = [part, next].map((each) => each.querySelector("[name=seen]"));
    // Whoever writes may not have looked up: a colleague's answer is not sent past without a question.
    const isAnswered = reply?.value.trim() && [...part.querySelectorAll(".from-agent")]
      .some(({ id }) => id > `reply-${seen?.value}`);
    if (seen && nextSeen && !isAnswered) seen.value = nextSeen.value;
    news.dataset.news = next.querySelector("[data-news]")?.dataset.news ?? news.dataset.news;
    document.dispatchEvent(new CustomEvent("desk:fields", { detail: next }));
    if (document.activeElement === reply) scrollBy(0, anchor.getBoundingClientRect().top - top);
    await show({ signal });
    // A closed ticket has a form that reopens it in place of the composer.
    if (Boolean(seen) !== Boolean(nextSeen) && !reply?.value.trim()) location.reload();
  });
  const look = paced(async () => {
    if (!document.hidden) await show();
  });
  document.addEventListener("desk:ticket", ({ detail }) => {
    if (detail.ticketId === topic) renew();
  }, { signal });
  document.addEventListener("desk:presence", ({ detail }) => {
    if (detail.ticketId === topic) look();
  }, { signal });
  for (const event of ["desk:missed", "desk:early"]) document.addEventListener(event, renew, { signal });
  update();
  reply?.form.addEventListener("input", update);
  const timer = setInterval(update, 20500);
  signal.addEventListener("abort", () => clearInterval(timer));
  document.addEventListener("visibilitychange", update, { signal });
});

// A reply that is sent without a server waits for it, and is sent once: what was stored already is
// not stored again.
onPart((part) => {
  const composer = part.querySelector("#composer");
  if (!composer) return;
  let isWaiting = false;
  let isReached = false;
  composer.addEventListener("submit", async (event) => {
    if (event.defaultPrevented || isReached || (isLive() && navigator.onLine)) return;
    event.preventDefault();
    if (isWaiting) return;
    isWaiting = true;
    while (!await isReachable()) {
      setOffline(true);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    setOffline(false);
    [isWaiting, isReached] = [false, true];
    delete composer.dataset.sent;
    composer.requestSubmit(event.submitter);
    isReached = false;
  });
});
