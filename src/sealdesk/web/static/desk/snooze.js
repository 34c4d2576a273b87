// Choices until when a ticket is snoozed, in the time zone of the browser.
const asInstant = (date) => date.toISOString().replace("Z", "000Z");
const chooseMornings = (select) => {
  for (const option of select.querySelectorAll("[data-days]")) {
    if (option.selected) continue;
    const date = new Date();
    const days = Number(option.dataset.days);
    if (days) {
      // In 7 days at most: on Monday.
      date.setDate(date.getDate() + (days < 7 ? days : (8 - date.getDay()) % 7 || 7));
      date.setHours(8, 0, 0, 0);
    } else date.setHours(date.getHours() + 3);
    option.value = asInstant(date);
  }
};
addEventListener("focusin", ({ target }) => {
  if (target.matches("[data-snooze]")) chooseMornings(target);
});
onPart((part) => {
  for (const select of part.querySelectorAll("[data-snooze]")) chooseMornings(select);
  const own = part.querySelector("[data-snooze-at]");
  own?.addEventListener("change", () => {
    if (!own.value) return;
    const select = part.querySelector("#snoozed_until");
    select.append(new Option(own.value.replace("T", " "), asInstant(new Date(own.value)), false, true));
    own.value = "";
  });
});
