"""Another site, and every kind of cross-site request that its pages can send."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.servers import free_port

_PAGE = b"<!doctype html><title>Win</title><link rel=icon href=data:,><body>"
# Sends the requests of its page from a worker of either kind.
_WORKER = b"""onmessage = async ({ data: [to, init], ports: [port] }) => {
  await fetch(to, init).catch(() => {});
  port.postMessage("done");
};"""
# Each shape, with nobody asked: the first ones to each target, the others, which take their time,
# to a few. How often each was answered or refused, by its name.
SEND = """async ([targets, few, fields]) => {
  const encoded = String(new URLSearchParams(fields)), parts = new FormData();
  for (const [name, value] of Object.entries(fields)) parts.append(name, value);
  const form = () => new URLSearchParams(fields);
  const post = { method: "POST", credentials: "include", mode: "no-cors" };
  const typed = { ...post, body: encoded, headers: {
    "content-type": "application/x-www-form-urlencoded" } };
  const text = { "content-type": "text/plain" };
  const asked = (to) => `${to}?${encoded}`;
  const put = (name, what) => new Promise((done) => {
    const each = Object.assign(document.createElement(name), what);
    const end = () => { setTimeout(() => each.remove()); done(); };
    Object.assign(each, { onload: end, onerror: end });
    document.body.append(each);
  });
  const told = (worker, to) => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    worker.postMessage([to, typed], [port2]);
  });
  const hidden = Object.entries(fields).map(([name, value]) => {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name });
    field.setAttribute("value", value);
    return field.outerHTML;
  }).join("");
  const sent = (to) => `<form method=post action="${to}">${hidden}</form>`
    + "<script>onload = () => setTimeout(() => document.forms[0].submit())</" + "script>";
  // A frame is loaded twice: with the form, and with what answers it.
  const framed = (to, sandbox) => new Promise((done) => {
    const frame = document.createElement("iframe");
    if (sandbox) frame.sandbox = sandbox;
    frame.srcdoc = sent(to);
    let loads = 0;
    frame.onload = () => { if (++loads === 2) { frame.remove(); done(); } };
    document.body.append(frame);
  });
  const worker = new Worker("/worker.js");
  await navigator.serviceWorker.register("/worker.js");
  const { active: service } = await navigator.serviceWorker.ready;
  const quick = {
    "a fetch of a form": (to) => fetch(to, { ...post, body: form() }),
    "a fetch without a referrer": (to) => fetch(to,
      { ...post, body: form(), referrerPolicy: "no-referrer" }),
    "a fetch of plain text": (to) => fetch(to, { ...post, body: encoded, headers: text }),
    "a fetch of parts": (to) => fetch(to, { ...post, body: parts }),
    "a fetch that lives on": (to) => fetch(to, { ...post, body: form(), keepalive: true }),
    "a fetch that reads the answer": (to) => fetch(to, { ...post, body: form(), mode: "cors" }),
    "a fetch with a header of its own": (to) => fetch(to,
      { ...post, body: form(), mode: "cors", headers: { "x-asked": "yes" } }),
    "a fetch of another method": (to) => fetch(to, { ...post, mode: "cors", method: "DELETE" }),
    "a fetch by GET": (to) => fetch(asked(to), { credentials: "include", mode: "no-cors" }),
    "a fetch that is sent on": (to) => fetch(`/?${to}`, { ...post, body: form() }),
    "a beacon": async (to) => {
      for (let turn = 0; turn < 500 && !navigator.sendBeacon(to, form()); turn++) {
        await new Promise((done) => setTimeout(done, 10));
      }
    },
    "an XMLHttpRequest": (to) => new Promise((done) => {
      const request = new XMLHttpRequest();
      request.open("POST", to);
      Object.assign(request, { withCredentials: true, onloadend: done }).send(form());
    }),
  };
  const others = {
    "a worker": (to) => told(worker, to),
    "a service worker": (to) => told(service, to),
    "an event source": (to) => new Promise((done) => {
      const source = new EventSource(asked(to), { withCredentials: true });
      source.onerror = () => { source.close(); done(); };
    }),
    "a web socket": (to) => new Promise((done) => {
      new WebSocket(asked(to).replace("http", "ws")).onclose = done;
    }),
    "an image": (to) => put("img", { src: asked(to) }),
    "a script": (to) => put("script", { src: asked(to) }),
    "a style sheet": (to) => put("link", { rel: "stylesheet", href: asked(to) }),
    "a page fetched before its time": (to) => put("link", { rel: "prefetch", href: asked(to) }),
    "a frame": (to) => put("iframe", { src: asked(to) }),
    "a form in a frame": (to) => framed(to),
    "a form in a sandbox": (to) => framed(to, "allow-forms allow-scripts"),
  };
  const counts = {};
  for (const [shapes, to] of [[quick, targets], [others, few]]) {
    await Promise.all(to.flatMap((each) => Object.entries(shapes).map(async ([name, send]) => {
      try { await send(each); } catch { /* Refused by the browser itself. */ }
      counts[name] = (counts[name] ?? 0) + 1;
    })));
  }
  return counts;
}"""

# A form submission by a user: the browser navigates to its target.
LEAD = """([action, method, enctype, target, referrerPolicy, fields]) => {
  const form = Object.assign(document.createElement("form"), { method, action, enctype, target });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement("input"), { name, value }));
  }
  const policy = { name: "referrer", content: referrerPolicy };
  document.head.append(Object.assign(document.createElement("meta"), policy));
  document.body.append(form);
  form.submit();
}"""


class _Evil(BaseHTTPRequestHandler):
    """A page of another site; redirects posts to the address in its query."""

    def do_GET(self) -> None:
        if self.path == "/worker.js":
            self._answer(200, _WORKER, "text/javascript")
        else:
            self._answer(200, _PAGE, "text/html")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._answer(307, b"", "text/html")

    def _answer(self, status: int, content: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("location", self.path.partition("?")[2])
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def elsewhere() -> Iterator[int]:
    """The port of such a site."""
    server = ThreadingHTTPServer(("127.0.0.1", free_port()), _Evil)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
