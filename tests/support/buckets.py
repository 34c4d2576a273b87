"""Buckets of the run's SeaweedFS, and a proxy in front of it that fails."""

import secrets
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import obstore
from obstore.store import S3Store

from sealdesk.tickets.attachments.bucket import Bucket
from sealdesk.tickets.attachments.storage import storage_of
from tests.servers import run_bucket_port
from tests.servers.ports import HOST
from tests.servers.seaweedfs import KEY_ID, SECRET
from tests.support.service import Service

_BLOCK = 64 * 1024
_BUSY = (
    b"HTTP/1.1 503 Slow Down\r\ncontent-length: 40\r\nconnection: close\r\n\r\n"
    b"<Error><Code>SlowDown</Code></Error>    "
)


def bucket_env(port: int | None = None) -> dict[str, str]:
    """The settings of a new bucket. port: of a proxy in front of the server."""
    return {
        "SEALDESK_ATTACHMENT_BUCKET": f"desk-{secrets.token_hex(6)}",
        "SEALDESK_ATTACHMENT_ENDPOINT": f"http://{HOST}:{port or run_bucket_port()}",
        "SEALDESK_ATTACHMENT_KEY_ID": KEY_ID,
        "SEALDESK_ATTACHMENT_SECRET": SECRET,
    }


def store_of(env: dict[str, str]) -> S3Store:
    """A bucket of `bucket_env`, for looking at it and changing it from outside."""
    return S3Store(
        env["SEALDESK_ATTACHMENT_BUCKET"],
        endpoint=f"http://{HOST}:{run_bucket_port()}",
        region="us-east-1",
        access_key_id=KEY_ID,
        secret_access_key=SECRET,
        client_options={"allow_http": True},
    )


def list_bucket(env: dict[str, str]) -> dict[str, bytes]:
    """What is in a bucket: path → content."""
    store = store_of(env)
    paths = [each["path"] for page in obstore.list(store) for each in page]
    return {path: bytes(store.get(path).bytes()) for path in paths}


def bucket_of(service: Service) -> Bucket:
    """The client that the service itself uses."""
    bucket = storage_of(service.settings)
    assert isinstance(bucket, Bucket)
    return bucket


class FaultyProxy:
    """Passes on bytes between clients and a server until it is told otherwise.

    to_server, to_client: how many bytes of a connection it passes on before it cuts it.
    """

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._open: set[socket.socket] = set()
        self._flows = threading.Event()
        self.held = 0
        self._flows.set()
        self.is_busy = self.refuses = False
        self.to_server = self.to_client = 1 << 60
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy.serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 128

        self._server = Server((HOST, 0), Handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def fail(self, **how: Any) -> None:
        """Set attributes, and cut the connections that are open."""
        for name, value in how.items():
            setattr(self, name, value)
        for each in list(self._open):
            _cut(each)

    def hold(self) -> None:
        """Accept connections and requests, and do nothing, until `release`."""
        self._flows.clear()
        self.fail()

    def release(self) -> None:
        self._flows.set()

    def recover(self) -> None:
        """Pass on everything again."""
        self.release()
        self.fail(is_busy=False, refuses=False, to_server=1 << 60, to_client=1 << 60)

    def close(self) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self.fail()

    def serve(self, client: socket.socket) -> None:
        if self.refuses:
            _cut(client)
            return
        if self.is_busy:
            client.recv(_BLOCK)
            client.sendall(_BUSY)
            return
        with socket.create_connection((HOST, self._server_port)) as server:
            self._open |= {client, server}
            back = threading.Thread(
                target=self._pump, args=(server, client, self.to_client), daemon=True
            )
            back.start()
            self._pump(client, server, self.to_server)
            back.join()
            self._open -= {client, server}

    def _pump(self, source: socket.socket, target: socket.socket, limit: int) -> None:
        with suppress(OSError):
            while limit and (block := source.recv(min(_BLOCK, limit))):
                if not self._flows.is_set():
                    self.held += 1
                    self._flows.wait()
                target.sendall(block)
                limit -= len(block)
        for each in (source, target):
            _cut(each)


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def faulty_proxy() -> Iterator[FaultyProxy]:
    """A proxy in front of the run's SeaweedFS."""
    proxy = FaultyProxy(run_bucket_port())
    try:
        yield proxy
    finally:
        proxy.close()
