"""`sealdesk webhooks listen`: the forwarded requests and the terminal output."""

import contextlib
import re
import signal
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from sealdesk.crypto import webhook_signing
from tests.cli.commands import Command, start_command
from tests.cli.fixtures import on_a_file
from tests.cli.terminal import Terminal
from tests.servers import free_port
from tests.support.client import Key
from tests.support.databases import SQLITE_FIRST
from tests.support.receiver import Got, Receiver, receiving
from tests.support.service import Service, Tenant, wait_until

FEED = "/api/v1/external/events"
LINE = re.compile(r"\d\d:\d\d:\d\d  ([a-z_.]+) +([0-9a-f-]{36}) +(\d+|-) +\d+ ms")


class Listener:
    """A running `sealdesk webhooks listen`. shown: its output so far."""

    def __init__(self, terminal: Terminal, output: Path, *arguments: str) -> None:
        self._output = output
        with output.open("w") as file:
            self.process = start_command(
                "webhooks", "listen", *arguments, env=terminal.env, stdout=file, stderr=file
            )

    @property
    def shown(self) -> str:
        return self._output.read_text()

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """(type, id, status) of each event."""
        return LINE.findall(self.shown)

    def wait_for(self, text: str) -> None:
        with contextlib.suppress(AssertionError):
            wait_until(lambda: text in self.shown or self.process.poll() is not None)
        assert text in self.shown

    def interrupt(self) -> int:
        """Send SIGINT as Ctrl-C does; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(120)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def listen(tmp_path: Path, receiver: Receiver) -> Iterator[Any]:
    """listen(key, "--events", …): forwards the events that this key may see to the receiver."""
    numbers = count()
    with ExitStack() as stack:

        def begin(key: Key, *options: str, url: str = "", **env: str) -> Listener:
            terminal = Terminal(tmp_path / "nothing").with_env(
                SEALDESK_API_URL=url or key.service.url,
                SEALDESK_API_KEY=key.api_key,
                SEALDESK_API_SECRET=key.api_secret,
                **env,
            )
            output = tmp_path / f"output{next(numbers)}"
            listener = Listener(terminal, output, "--forward-to", receiver.url, *options)
            stack.callback(_end, listener.process)
            return listener

        yield begin


def _end(process: Command) -> None:
    process.kill()
    process.wait(120)


def in_feed(key: Key) -> dict[str, bytes]:
    """Return the bytes of each event of a tenant's feed, which has only one page."""
    wait_until(lambda: len(key.get(FEED).json()["data"]) > 0)
    page = key.get(FEED)
    inside = page.content.removeprefix(b'{"data":[').rpartition(b'],"meta":')[0]
    ids = [event["id"] for event in page.json()["data"]]
    starts = [inside.index(f'{{"id":"{id}"'.encode()) for id in ids]
    ends = [*(start - 1 for start in starts[1:]), len(inside)]
    return {id: inside[a:b] for id, a, b in zip(ids, starts, ends, strict=True)}


@SQLITE_FIRST
def test_new_events_arrive_byte_for_byte_with_valid_signatures(
    key: Key, receiver: Receiver, listen: Any
) -> None:
    key.ticket(subject="Before anybody listened")
    in_feed(key)
    listener = listen(key)
    listener.wait_for("Signing secret: whsec_")
    key.ticket(subject="Grüße, 日本", customer={"email": "new@example.test"})
    got = receiver.wait(2)
    secret = re.findall(r"whsec_\S+", listener.shown)[0]
    assert _types(got) == {"customer.created", "ticket.created"}
    sent = in_feed(key)
    assert [one.body for one in got] == [sent[one.webhook_id] for one in got]
    for one in got:
        assert Webhook(secret).verify(one.body, one.headers)["id"] == one.webhook_id
        assert one.headers["content-type"] == "application/json"
    wait_until(lambda: len(listener.lines) == 2)
    assert [line[1:] for line in listener.lines] == [(one.webhook_id, "200") for one in got]


@on_a_file
def test_after_ctrl_c_the_printed_cursor_continues(
    key: Key, receiver: Receiver, listen: Any
) -> None:
    first = listen(key, "--events", "ticket.created")
    first.wait_for("Signing secret")
    before = key.ticket()["id"]
    wait_until(lambda: len(first.lines) == 1)
    assert first.interrupt() == 0
    assert "Stopped after 1 event.\n" in first.shown
    assert "Traceback" not in first.shown
    after = key.ticket()["id"]
    (cursor,) = re.findall(r"--cursor (\S+)\n", first.shown)
    secret = webhook_signing.mint_secret()
    options = ("--events", "ticket.created", "--cursor", cursor)
    second = listen(key, *options, SEALDESK_WEBHOOK_SECRET=secret)
    got = receiver.wait(2)
    objects = [Webhook(secret).verify(got[1].body, got[1].headers)["data"]["object"]["id"]]
    assert (before in got[0].body.decode(), objects) == (True, [after])
    assert secret not in second.shown
    from_beginning = listen(key, "--since-beginning", SEALDESK_WEBHOOK_SECRET=secret)
    wait_until(lambda: len(from_beginning.lines) == 3)
    assert {line[1] for line in from_beginning.lines} == set(in_feed(key))


@on_a_file
def test_failed_requests_are_reported_with_advice(
    key: Key, receiver: Receiver, listen: Any
) -> None:
    listener = listen(key, "--events", "customer.created")
    listener.wait_for("Signing secret")
    answers = [(500, {}), (410, {}), (302, {"location": "/there"})]
    for number, (status, headers) in enumerate(answers):
        receiver.answers(status, headers=headers)
        key.customer(f"{number}@example.test")
        wait_until(lambda seen=number + 1: len(listener.lines) == seen)  # type: ignore[misc]
    receiver.stop()
    key.customer("last@example.test")
    listener.wait_for("Connection refused; is your program running?")
    assert [line[2] for line in listener.lines] == ["500", "410", "302", "-"]
    for words in ("Sealdesk would retry", "would disable", "set --forward-to to /there"):
        assert words in listener.shown
    assert len(receiver.got) == 3


@on_a_file
def test_a_revoked_key_ends_the_command(tenant: Tenant, key: Key, listen: Any) -> None:
    listener = listen(key)
    listener.wait_for("Signing secret")
    tenant.admin().delete(f"/api/v1/api-keys/{key.id}")
    assert listener.process.wait(120) == 1
    assert "was revoked" in listener.shown.splitlines()[-1]


@on_a_file
def test_every_refusal_prints_one_line(
    service: Service, tenant: Tenant, key: Key, listen: Any
) -> None:
    without_permission = tenant.key(permissions=["tickets:write"])
    ticket = key.ticket()["id"]
    wait_until(lambda: any(ticket in body.decode() for body in in_feed(key).values()))
    old = key.get(f"{FEED}?per_page=1").json()["meta"]["next_cursor"]
    service.run(f"UPDATE feed_positions SET pruned_position = 99 WHERE tenant_id = '{tenant.id}'")
    refused = {
        "Use a key with tickets:read": listen(without_permission),
        "Omit --cursor to start at the next event": listen(key, "--cursor", old),
        "Use a cursor that this command printed": listen(key, "--cursor", "AAAA"),
        "of ticket.created, ticket.updated": listen(key, "--events", "ticket.opened"),
        "give one": listen(key, "--cursor", old, "--since-beginning"),
        "--forward-to must be a URL such as http": listen(key, "--forward-to", "localhost:80"),
        "begins with v1,": listen(key, SEALDESK_WEBHOOK_SECRET="v1,abc"),
        "no response from http://127.0.0.1:9": listen(key, url="http://127.0.0.1:9"),
    }
    for words, listener in refused.items():
        assert listener.process.wait(60) == 1
        (line,) = listener.shown.splitlines()
        assert words in line


@SQLITE_FIRST
def test_no_event_is_missed_while_the_service_is_unreachable(
    service: Service, key: Key, receiver: Receiver, listen: Any
) -> None:
    with Tunnel(service.port) as tunnel:
        listener = listen(key, "--events", "customer.created", url=tunnel.url)
        listener.wait_for("Signing secret")
        tunnel.close()
        key.customer("meanwhile@example.test")
        listener.wait_for("Retrying in 1 s: no response from")
        tunnel.open()
        listener.wait_for("responds again; no event was missed")
        assert b"meanwhile@example.test" in receiver.wait(1)[0].body


def _types(got: list[Got]) -> set[str]:
    return {one.body.decode().split('"type":"')[1].split('"')[0] for one in got}


class Tunnel:
    """A port that forwards to the service and can be closed temporarily."""

    def __init__(self, service_port: int) -> None:
        self._service_port = service_port
        self._port = free_port()
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> "Tunnel":
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        server = _TunnelServer(("127.0.0.1", self._port), _TunnelHandler)
        server.service_port = self._service_port
        self._stack.callback(server.end)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Close open connections and refuse new ones."""
        self._stack.close()


class _TunnelServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    service_port: int

    def __init__(self, *args: Any) -> None:
        self.open_sockets: list[socket.socket] = []
        super().__init__(*args)

    def get_request(self) -> tuple[socket.socket, Any]:
        one, address = super().get_request()
        self.open_sockets.append(one)
        return one, address

    def end(self) -> None:
        self.shutdown()
        self.server_close()
        for one in self.open_sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _TunnelHandler(socketserver.BaseRequestHandler):
    server: _TunnelServer

    def handle(self) -> None:
        address = ("127.0.0.1", self.server.service_port)
        with socket.create_connection(address) as beyond:
            back = threading.Thread(target=_pass, args=(beyond, self.request))
            back.start()
            _pass(self.request, beyond)
            back.join()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
