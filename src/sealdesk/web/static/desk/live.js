// The stream of the page: what happens to tickets is dispatched as `desk:ticket` with
// {type, ticketId, number, position, by, isOwn}, and who looks or writes as `desk:presence`.
// `desk:missed` says that the page has to look for itself. Without a stream, pages poll.
const HELLO_WITHIN_MS = 5000; // A proxy that buffers passes nothing on.
const SILENT_MS = 45000; // Three heartbeats.
const RETRY_MS = 15000;
let stream = null;
let me = null;
let heardAt = 0; // When something arrived on the stream; 0 without one.
let known = null; // The position of the last event that the page knows.
let shownTicket = ""; // The ticket whose readers are told of each other.
const isLive = () => heardAt > 0;
const dispatch = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
const hear = (event) => {
  heardAt = performance.now();
  known = event.lastEventId || known;
};
const disconnect = () => {
  stream?.close();
  stream = null;
  heardAt = 0;
};
const connect = () => {
  disconnect();
  if (!document.body.dataset.live) return;
  const query = new URLSearchParams({ after: known ?? "", ticket: shownTicket });
  const mine = stream = new EventSource(`${document.body.dataset.live}?${query}`);
  mine.addEventListener("hello", (event) => {
    hear(event);
    const { me: user, missed } = JSON.parse(event.data);
    me = user;
    setOffline(false);
    if (missed) dispatch("desk:missed");
  });
  mine.addEventListener("ticket", (event) => {
    hear(event);
    const detail = JSON.parse(event.data);
    detail.isOwn = detail.by?.id === me;
    dispatch("desk:ticket", detail);
  });
  mine.addEventListener("presence", (event) => {
    hear(event);
    dispatch("desk:presence", JSON.parse(event.data));
  });
  mine.addEventListener("beat", hear);
  mine.addEventListener("error", () => {
    if (stream !== mine) return;
    heardAt = 0;
    // The browser connects again by itself, unless the server has refused.
    if (mine.readyState === EventSource.CLOSED) stream = null;
    checkServer();
  });
};

// Browsers open six connections to a server, for all tabs together. So of the hidden pages one
// keeps its stream, where the browser can tell which.
let letGo = null;
const holdWhileHidden = () => navigator.locks?.request("live", { ifAvailable: true }, (lock) => {
  if (!document.hidden) return null;
  if (!lock) return disconnect();
  return new Promise((resolve) => (letGo = resolve));
}) ?? disconnect();
const follow = () => {
  if (document.hidden) return holdWhileHidden();
  letGo?.();
  letGo = null;
  if (!stream) connect();
};

// Tells the server once a minute that somebody is here: an open page alone says nothing.
let saidHereAt = performance.now();
const sayHere = () => {
  const token = document.querySelector(".account-links [name=form_token]")?.value;
  if (!token || performance.now() - saidHereAt < 60000) return;
  saidHereAt = performance.now();
  const address = document.body.dataset.live.replace(/live$/, "team-now/here");
  fetch(address, { method: "POST", body: new URLSearchParams({ form_token: token }) }).catch(() => {});
};
for (const input of ["keydown", "pointermove", "wheel"]) document.addEventListener(input, sayHere, { passive: true });

// Says at the foot of the page that the server cannot be reached. A restart is shorter.
const OFFLINE_AFTER_MS = 3000;
let isOffline = false;
let lostAt = null;
const setOffline = (offline) => {
  if (!offline) lostAt = null;
  if (isOffline === offline) return;
  isOffline = offline;
  document.querySelector("[data-offline]")?.toggleAttribute("hidden", !offline);
  if (!offline) dispatch("desk:online");
};
const isReachable = async () => {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), OFFLINE_AFTER_MS);
  try {
    const { status } = await fetch(document.body.dataset.live,
      { method: "HEAD", redirect: "manual", signal: ending.signal });
    return status < 500;
  } catch {
    return false;
  } finally { clearTimeout(timer); }
};
const checkServer = async () => {
  if (await isReachable()) return setOffline(false);
  lostAt ??= performance.now();
  setTimeout(checkServer, 1000);
  if (performance.now() - lostAt >= OFFLINE_AFTER_MS) setOffline(true);
};

// Runs the work at once, and while more is asked for, after pauses that grow: a busy desk must not
// make each page ask for everything again and again. It never runs twice at a time, so that no older
// response comes after a newer one.
const LONGEST_PAUSE_MS = 8000;
const GIVEN_UP_MS = 60000; // A request on a network that is gone may never end.
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const paced = (work) => {
  let isRunning = false;
  let isDue = false;
  const run = async () => {
    isRunning = true;
    for (let pause = 500; isDue; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      isDue = false;
      const paused = sleep(pause);
      try {
        await Promise.race([work(), sleep(GIVEN_UP_MS)]);
      } catch { /* No network: the next event or poll tries again. */ }
      await paused;
    }
    isRunning = false;
  };
  return () => {
    isDue = true;
    if (!isRunning) run();
  };
};

// The title counts tickets with something new while the page is in the background.
const unseen = new Set();
const showUnseen = () => {
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = unseen.size ? `(${unseen.size}) ${title}` : title;
};
document.addEventListener("desk:ticket", ({ detail }) => {
  const isNews = ["ticket.created", "reply.created"].includes(detail.type) && !detail.isOwn;
  if (!isNews || !document.hidden) return;
  unseen.add(detail.ticketId);
  showUnseen();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  unseen.clear();
  showUnseen();
});

// What a page shows is known up to here; the ticket that is loaded beside a list changes the stream,
// the list that is loaded beside a ticket does not.
onPart((part) => {
  const shown = part.querySelector("[data-position]:not([data-beside=list] *)");
  if (!shown) return;
  known ??= shown.dataset.position;
  if (shownTicket === shown.dataset.topic && stream) return;
  shownTicket = shown.dataset.topic;
  if (stream) connect();
});
addEventListener("DOMContentLoaded", () => {
  if (!document.body.dataset.live) return;
  follow();
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", ({ persisted }) => persisted && follow());
  addEventListener("offline", checkServer);
  let connectedAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (!stream && document.hidden) return;
    const isSilent = isLive() && now - heardAt > SILENT_MS;
    const isRefused = !stream && now - connectedAt > RETRY_MS;
    if (!isSilent && !isRefused) return;
    connectedAt = now;
    connect();
  }, HELLO_WITHIN_MS);
});
