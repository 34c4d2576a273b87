// How far tags are renamed, until all of it is done.
onPart((part, signal) => {
  const box = part.querySelector("[data-progress]");
  const renew = async () => {
    if (signal.aborted || !box.querySelector("progress")) return;
    try {
      box.innerHTML = await poll(box.dataset.progress, box) ?? box.innerHTML;
      localize(box);
    } catch { /* No network: the next one tries again. */ }
    setTimeout(renew, 1000);
  };
  if (box) setTimeout(renew, 1000);
});
