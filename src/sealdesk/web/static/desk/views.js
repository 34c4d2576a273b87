// The counts of the views follow the tickets: at most every five seconds, and while the page is seen.
const sidebar = document.querySelector("[data-views]");
if (sidebar) {
  const PAUSE_MS = 5000;
  let lastAt = 0;
  let waiting = null;
  const refresh = async () => {
    waiting = null;
    if (document.hidden) return;
    lastAt = Date.now();
    try {
      const response = await fetch(sidebar.dataset.views, { redirect: "manual" });
      if (!response.ok) return;
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const count of next.querySelectorAll("[data-count]")) {
        const shown = sidebar.querySelector(`[data-count="${count.dataset.count}"]`);
        if (shown && shown.textContent !== count.textContent) shown.textContent = count.textContent;
      }
    } catch { /* No network: the next event tries again. */ }
  };
  const refreshSoon = () => {
    waiting ??= setTimeout(refresh, Math.max(0, lastAt + PAUSE_MS - Date.now()));
  };
  document.addEventListener("desk:ticket", refreshSoon);
  document.addEventListener("visibilitychange", refreshSoon);
  setInterval(refreshSoon, 30000);
}
