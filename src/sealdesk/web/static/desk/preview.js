// The reply as it will be shown, rendered by the server while it is written.
onPart((part, signal) => {
  const button = part.querySelector("[data-previews]");
  if (!button) return;
  const { body, form_token: token } = button.form.elements;
  const shown = button.form.querySelector("[data-shown]");
  let timer;
  const isOn = () => button.ariaPressed === "true";
  const renew = async () => {
    const text = body.value;
    const parameters = new URLSearchParams({ form_token: token.value, body: text });
    let html = "";
    try {
      const response = await fetch(button.dataset.previews, { method: "POST", body: parameters, redirect: "manual", signal });
      if (response.ok) html = await response.text();
    } catch { /* No network. */ }
    if (!isOn() || body.value !== text) return;
    if (html) shown.innerHTML = html;
    else shown.textContent = button.dataset.failed;
  };
  button.addEventListener("click", () => {
    button.ariaPressed = String(!isOn());
    shown.replaceChildren();
    if (isOn()) renew();
    body.focus();
  });
  body.addEventListener("input", () => {
    clearTimeout(timer);
    if (isOn()) timer = setTimeout(renew, 300);
  });
});
