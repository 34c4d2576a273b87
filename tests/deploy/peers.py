"""Servers that proxies may meet: one that breaks off, and a way to one that counts."""

import contextlib
import socket
import threading

from tests.servers import free_port


class Listening:
    """A loopback port whose connections are taken by `take`, each in a thread."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", free_port()))
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def take(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def close(self) -> None:
        # Closing alone would leave the thread in accept().
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the end
            while True:
                connection = self._socket.accept()[0]
                threading.Thread(target=self._taken, args=(connection,), daemon=True).start()

    def _taken(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            self.take(connection)


class Breaking(Listening):
    """A server that is ready, takes each request's head, and breaks off instead of answering.

    taken: the methods of the requests, without those for readiness.
    """

    def __init__(self) -> None:
        self.taken: list[str] = []
        super().__init__()

    def take(self, connection: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            part = connection.recv(1)
            if not part:
                return
            head += part
        if head.startswith(b"GET /readyz"):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        else:
            self.taken.append(head.split()[0].decode())


class Way(Listening):
    """A way to the server at another port; `count` is how often it was gone."""

    def __init__(self, port: int) -> None:
        self.count = 0
        self._to = port
        super().__init__()

    def take(self, connection: socket.socket) -> None:
        self.count += 1
        with socket.create_connection(("127.0.0.1", self._to)) as beyond:
            back = threading.Thread(target=_carry, args=(beyond, connection), daemon=True)
            back.start()
            _carry(connection, beyond)
            back.join()


def _carry(source: socket.socket, to: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            to.sendall(part)
        to.shutdown(socket.SHUT_WR)
