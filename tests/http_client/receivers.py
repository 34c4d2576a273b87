"""Receivers on loopback that send given bytes, and certificates for them."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.servers import free_port

Handler = Callable[[socket.socket], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@contextmanager
def receiver(handle: Handler, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server on 127.0.0.1 that calls `handle` with each connection; yields its port."""

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            if context is None:
                handle(connection)
            else:
                with context.wrap_socket(connection, server_side=True) as secure:
                    handle(secure)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.settimeout(20)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", free_port()), backlog=128) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def read_request(connection: socket.socket) -> bytes:
    """The next complete request; empty when the connection closes."""
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        if not more:
            return b""
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def respond(*parts: bytes, received: list[bytes] | None = None) -> Handler:
    """A handler that responds to each request of a connection with these bytes."""

    def handle(connection: socket.socket) -> None:
        while request := read_request(connection):
            if received is not None:
                received.append(request)
            for part in parts:
                connection.sendall(part)

    return handle


def respond_once(*parts: bytes) -> Handler:
    """A handler that sends these parts, 5 ms apart, to one request, and closes."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            connection.sendall(part)
            time.sleep(0.005)

    return handle


class Authority:
    """A certificate authority for one test, with its certificates in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])
        certificate = self._signed(self._name, self._key, [], (-1, 1), is_authority=True)
        self.file = directory / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def context(self, *names: str, days: tuple[int, int] = (-1, 1)) -> ssl.SSLContext:
        """A server context with a certificate for these names and addresses. days: of validity."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
        certificate = self._signed(subject, key, list(names), days, is_authority=False)
        file = self._directory / "receiver.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def certificate(self, *names: str, days: tuple[int, int] = (-1, 1)) -> bytes:
        """A certificate and its key in PEM form, for servers of another process."""
        self.context(*names, days=days)
        return (self._directory / "receiver.pem").read_bytes()

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        names: list[str],
        days: tuple[int, int],
        *,
        is_authority: bool,
    ) -> x509.Certificate:
        today = datetime.datetime.now(datetime.UTC)
        first, last = (today + datetime.timedelta(days=number) for number in days)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(first)
            .not_valid_after(last)
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        )
        if names:
            alternatives = x509.SubjectAlternativeName([_general(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
