"""A service behind each proxy, as it is deployed."""

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from pathlib import Path
from typing import Literal, NamedTuple

import httpx
import pytest

from tests.deploy import files
from tests.deploy.files import Certificate, Ports
from tests.servers import Haproxy, Nginx, free_port, server_directory
from tests.support.service import Service, running

Kind = Literal["haproxy", "nginx"]


class Front(NamedTuple):
    """A proxy with the shipped configuration. url: with TLS. plain: the port without."""

    kind: Kind
    url: str
    tls: int
    plain: int


PutUp = Callable[..., Front]


@pytest.fixture(scope="session")
def directory() -> Iterator[Path]:
    with server_directory() as path:
        yield path


@pytest.fixture(scope="session")
def certificate(directory: Path) -> Certificate:
    return Certificate(directory)


@pytest.fixture
def http(certificate: Certificate) -> Iterator[httpx.Client]:
    """A client that trusts the certificate."""
    context = ssl.create_default_context(cafile=certificate.certificate)
    with httpx.Client(verify=context, timeout=120) as client:
        yield client


@pytest.fixture(scope="session")
def served(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that believes a proxy at 127.0.0.1."""
    path = tmp_path_factory.mktemp("served")
    with running(path, template, SEALDESK_TRUSTED_PROXIES="127.0.0.1") as service:
        yield service


@pytest.fixture(scope="session")
def put_up(directory: Path, certificate: Certificate) -> Iterator[PutUp]:
    """Starts proxies: put_up("nginx", (port, port)), with further changes of the files."""
    with ExitStack() as stack:

        def start(
            kind: Kind, servers: tuple[int, int], changes: dict[str, str] | None = None
        ) -> Front:
            plain, tls = free_port(), free_port()
            place = directory / f"{kind}{tls}"
            ports = Ports(plain, tls, servers)
            if kind == "haproxy":
                text = files.haproxy(certificate, ports, changes or {})
                stack.callback(Haproxy.start(place, text).stop)
            else:
                text = files.nginx(certificate, ports, changes or {})
                stack.callback(Nginx.start(place, text).kill)
            return Front(kind, f"https://localhost:{tls}", tls, plain)

        yield start


@pytest.fixture(scope="session", params=["haproxy", "nginx"])
def front(request: pytest.FixtureRequest, put_up: PutUp, served: Service) -> Front:
    """Each proxy in turn, with its two servers the same one."""
    return put_up(request.param, (served.port, served.port))


def said_to(front: Front, certificate: Certificate, sent: bytes) -> tuple[HTTPResponse, bytes]:
    """The answer to these bytes."""
    context = ssl.create_default_context(cafile=certificate.certificate)
    with (
        socket.create_connection(("127.0.0.1", front.tls), timeout=120) as bare,
        context.wrap_socket(bare, server_hostname="localhost") as connection,
    ):
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer, answer.read()
