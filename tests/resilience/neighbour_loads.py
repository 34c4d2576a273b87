"""What one tenant, or somebody without a log-in, can do to a server: as fast as it answers."""

import asyncio
import itertools
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import msgspec
import uvloop

from tests.resilience.connections import Connection, Key, http_request
from tests.resilience.nodes import admin_request
from tests.resilience.read_after_write import TICKETS

_NEW = {"subject": "S", "description": "D", "customer": {"email": "loud@example.test"}}
_LONG = "Dear *you*, see [this](https://a.test/x) or write to a@b.test.\n\n- one\n- two\n\n" * 50
_HOSTILE = "#_\n\n" * 990
_OWN_PAGE = {"sec-fetch-site": "same-origin"}
_FORM_TYPE = "application/x-www-form-urlencoded"


class Desk(msgspec.Struct):
    """A tenant whose requests are the load. ticket_id: with 15 long texts.

    receiver: the URL of a server that never answers.
    """

    port: int
    email: str
    password: str
    key: tuple[str, str, str]
    receiver: str
    cookie: str = ""
    form_token: str = ""
    token: str = ""
    ticket_id: str = ""
    macro_id: str = ""
    webhook_id: str = ""

    def signed(self, method: str, target: str, body: Any = None) -> bytes:
        return Key(*self.key).request(method, target, body)

    def page(self, path: str) -> bytes:
        return http_request("GET", path, b"", {**_OWN_PAGE, "cookie": self.cookie})

    def form(self, path: str, **typed: str) -> bytes:
        return _form(path, {"form_token": self.form_token, **typed}, {"cookie": self.cookie})

    def admin(self, method: str, target: str, body: Any) -> bytes:
        return admin_request(self.token, method, target, msgspec.json.encode(body))


def _form(path: str, typed: dict[str, str], headers: dict[str, str]) -> bytes:
    content = urlencode(typed).encode()
    sent = {**_OWN_PAGE, **headers, "content-type": _FORM_TYPE, "content-length": str(len(content))}
    return http_request("POST", path, b"", sent) + content


Load = Callable[[Desk, Connection, int], Awaitable[None]]


def _one(make: Callable[[Desk, int], bytes]) -> Load:
    async def send(desk: Desk, connection: Connection, number: int) -> None:
        await connection.send(make(desk, number))

    return send


async def _rendering(desk: Desk, connection: Connection, number: int) -> None:
    """A text that nobody has seen, and its HTML."""
    new = {**_NEW, "description": f"{number} {_HOSTILE}"}
    made = await connection.send(desk.signed("POST", TICKETS, new))
    if made.is_good:
        at = f"{TICKETS}/{made.json()['data']['id']}?html=true"
        await connection.send(desk.signed("GET", at))


async def _exporting(desk: Desk, _: Connection, __: int) -> None:
    await _read_all(desk.port, desk.page("/tickets/export/file?status=all"), 60)


async def _streaming(desk: Desk, connection: Connection, number: int) -> None:
    """An open page, which is told of changes."""
    watching = asyncio.create_task(_read_all(desk.port, desk.page("/live"), 2))
    while not watching.done():
        change = {"subject": f"S{number}-{connection.__hash__()}"}
        await connection.send(desk.signed("PATCH", f"{TICKETS}/{desk.ticket_id}", change))


async def _read_all(port: int, request: bytes, at_most_s: float) -> None:
    request = request.replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(at_most_s):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                while await reader.read(65_536):
                    pass
            finally:
                writer.close()


def _upload(desk: Desk, number: int) -> bytes:
    at = f"/api/v1/external/attachments?name=a{number}.txt"
    return desk.signed("POST", at, "x" * 900_000)


def _macro(desk: Desk, number: int) -> bytes:
    return desk.form(f"/tickets/{desk.ticket_id}/macro", macro=desk.macro_id, body=f"{number}")


def _replay(desk: Desk, _: int) -> bytes:
    since = {"since": "2020-01-01T00:00:00Z"}
    return desk.admin("POST", f"/api/v1/webhooks/{desk.webhook_id}/replay", since)


def _log_in(desk: Desk, number: int) -> bytes:
    body = {"email": f"nobody{number}@example.test", "password": "wrong"}
    return http_request("POST", "/api/v1/auth/login", msgspec.json.encode(body), {})


def _kept_form(desk: Desk, number: int) -> bytes:
    typed = {
        "email": "a@b.test",
        "password": "wrong",
        "kept_to": "/tickets",
        "kept.body": "A" * 900_000,
    }
    return _form("/log-in", typed, {})


def _bulk(desk: Desk, number: int) -> bytes:
    return desk.signed("POST", f"{TICKETS}/bulk", {"tickets": [_NEW] * 100})


LOADS: dict[str, Load] = {
    "pages of 100": _one(lambda desk, _: desk.signed("GET", f"{TICKETS}?per_page=100")),
    "search without an index": _one(
        lambda desk, _: desk.signed("GET", f"{TICKETS}?status=open&tag=none")
    ),
    "bodies of 900 kB": _one(
        lambda desk, _: desk.signed("POST", TICKETS, {**_NEW, "description": "x" * 900_000})
    ),
    "new tickets": _one(lambda desk, _: desk.signed("POST", TICKETS, _NEW)),
    "bulk of 100": _one(_bulk),
    "uploads of 900 kB": _one(_upload),
    "search words": _one(
        lambda desk, n: desk.signed("GET", f"/api/v1/external/search?q=long+dear+{n % 7}")
    ),
    "events": _one(lambda desk, _: desk.signed("GET", "/api/v1/external/events?per_page=100")),
    "new texts as HTML": _rendering,
    "inbox": _one(lambda desk, _: desk.page("/tickets")),
    "ticket of 15 long texts": _one(lambda desk, _: desk.page(f"/tickets/{desk.ticket_id}")),
    "refused reply of 900 kB": _one(
        lambda desk, _: desk.form(f"/tickets/{desk.ticket_id}/reply", body="b" * 900_000)
    ),
    "macro previews": _one(_macro),
    "CSV export": _exporting,
    "open pages with changes": _streaming,
    "replays to a server that hangs": _one(_replay),
    "log-ins": _one(_log_in),
    "stranger: kept forms of 900 kB": _one(_kept_form),
    "stranger: /llms-full.txt, 304": _one(
        lambda desk, _: http_request("GET", "/llms-full.txt", b"", {"if-none-match": '"none"'})
    ),
    "stranger: log-in page": _one(lambda desk, _: http_request("GET", "/", b"", _OWN_PAGE)),
}


async def prepare(desk: Desk) -> Desk:
    """The same desk with what its loads need."""
    connection = Connection(desk.port)

    async def send(request: bytes) -> Any:
        response = await connection.send(request)
        assert response.is_good or response.status == 303, response
        return response

    login = {"email": desk.email, "password": desk.password}
    page = await send(_form("/log-in", login, {}))
    desk.cookie = _first(rb"set-cookie: ([^;]+)", page.head)
    shown = await send(desk.page("/account"))
    desk.form_token = _first(rb'name="form_token" value="([^"]+)"', shown.body)
    logged_in = await send(
        http_request("POST", "/api/v1/auth/login", msgspec.json.encode(login), {})
    )
    desk.token = logged_in.json()["data"]["access_token"]
    made = await send(desk.signed("POST", TICKETS, {**_NEW, "description": _LONG}))
    desk.ticket_id = made.json()["data"]["id"]
    for number in range(14):
        new = {"body": f"{number} {_LONG}"}
        await send(desk.signed("POST", f"{TICKETS}/{desk.ticket_id}/replies", new))
    for _ in range(100):
        await send(desk.signed("POST", TICKETS, {**_NEW, "description": "long " * 2_000}))
    macro = {"name": "Macro", "shortcut": "m", "body": "Dear {{customer.name}}, *hello*. " * 50}
    desk.macro_id = (await send(desk.admin("POST", "/api/v1/macros", macro))).json()["data"]["id"]
    hook = {"url": desk.receiver, "events": ["ticket.created", "ticket.updated"]}
    made = await send(desk.admin("POST", "/api/v1/webhooks", hook))
    desk.webhook_id = made.json()["data"]["id"]
    connection.close()
    return desk


def _first(pattern: bytes, within: bytes) -> str:
    found = re.search(pattern, within, re.IGNORECASE)
    assert found is not None, within[:2000]
    return found[1].decode()


class Flood(msgspec.Struct):
    """What the program does until its input ends."""

    desk: Desk
    load: str
    connections: int


async def _flood(flood: Flood) -> None:
    sent = itertools.count()
    load = LOADS[flood.load]

    async def repeat() -> None:
        connection = Connection(flood.desk.port)
        while True:
            number = next(sent)
            await load(flood.desk, connection, number)
            if number == 0:
                print(flush=True)  # noqa: T201 - tells the other process

    tasks = [asyncio.create_task(repeat()) for _ in range(flood.connections)]
    await asyncio.to_thread(sys.stdin.buffer.read)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    print(next(sent))  # noqa: T201 - tells the other process


if __name__ == "__main__":
    uvloop.run(_flood(msgspec.json.decode(sys.stdin.buffer.readline(), type=Flood)))
