// Polls an address. Once the log-in has expired, the response is a redirect, and a notice in
// `container` says so.
const poll = async (address, container, options) => {
  const response = await fetch(address, { ...options, redirect: "manual" });
  const ended = container.querySelector("[data-ended]");
  if (response.type !== "opaqueredirect") ended?.remove();
  else if (!ended) {
    const line = document.createElement("p");
    const link = document.createElement("a");
    line.className = "notice wait";
    line.dataset.ended = "";
    link.href = location.pathname + location.search;
    link.textContent = document.body.dataset.ended;
    line.append(link);
    container.replaceChildren(line);
  }
  return response.ok ? response.text() : null;
};
