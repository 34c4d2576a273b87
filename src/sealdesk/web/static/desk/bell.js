// The bell: how many notifications are unread, and by choice the newest on the desktop.
const isOnDesktop = () => {
  try {
    return localStorage.desktop === "on" && Notification.permission === "granted";
  } catch { return false; }
};
const ring = paced(async () => {
  const bell = document.querySelector("[data-bell]");
  const response = await fetch(bell.dataset.bell, { redirect: "manual" });
  if (!response.ok) return;
  const next = parsePage(await response.text());
  const [count, fresh] = [bell, next].map((each) => each.querySelector("[data-unread]"));
  count.textContent = fresh.textContent;
  const newest = next.querySelector("[data-newest]");
  if (!newest || !isOnDesktop()) return;
  // Of all open pages one shows it: the tag is the same.
  const shown = new Notification("Sealdesk",
    { body: newest.textContent.trim(), tag: newest.dataset.newest });
  shown.addEventListener("click", () => focus());
});
document.addEventListener("desk:ticket", ({ detail }) => {
  if (detail.notified?.includes(me)) ring();
});
document.addEventListener("desk:missed", ring);
onPart((part) => {
  const box = part.querySelector("[data-desktop]");
  if (!box || !("Notification" in window)) return;
  part.querySelector("[data-desktop-row]").hidden = false;
  box.checked = isOnDesktop();
  box.addEventListener("change", async () => {
    const isAllowed = box.checked && await Notification.requestPermission() === "granted";
    box.checked = isAllowed;
    try {
      localStorage.desktop = isAllowed ? "on" : "off";
    } catch { /* Storage is disabled. */ }
  });
});
