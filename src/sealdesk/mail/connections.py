"""Connects to the mail servers that tenants choose: checked addresses, TLS, and a deadline."""

import asyncio
import socket
import ssl
from functools import cache
from typing import NamedTuple

from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connector import CERTIFICATE_ERRORS
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.resolver import Resolver
from sealdesk.http_client.urls import parse_host
from sealdesk.mail.servers import MailFailed, ProblemCode, Server

# A response of a server that is read as a line; an IMAP server lists its capabilities in one.
MAX_LINE_BYTES = 64 * 1024
_MAX_ADDRESSES = 4  # of a name with more addresses, only these are tried
_MAX_DETAIL = 200
_TLS_SHUTDOWN_S = 1.0


class Streams(NamedTuple):
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def connect(resolver: Resolver, server: Server, deadline: float) -> Streams:
    """Connect; with TLS if it begins at once. deadline: in the loop's time. Raises MailFailed."""
    addresses = await resolve(resolver, server.host, deadline)
    return await open_streams(await open_socket(addresses, server.port, deadline), server, deadline)


async def connect_socket(resolver: Resolver, server: Server, deadline: float) -> socket.socket:
    """A connected socket without TLS, for a library that starts it itself. Raises MailFailed.

    The library must be given `tls_context()` and the server's host as the name to verify.
    """
    return await open_socket(await resolve(resolver, server.host, deadline), server.port, deadline)


async def resolve(resolver: Resolver, host: str, deadline: float) -> tuple[Address, ...]:
    """The addresses of a host, all of which connections may go to. Raises MailFailed."""
    try:
        return await resolver.resolve(parse_host(host), deadline)
    except RequestFailed as error:
        is_forbidden = error.cause == "url_forbidden"
        code: ProblemCode = "address_not_allowed" if is_forbidden else "name_not_found"
        raise MailFailed(code, error.text) from None


async def open_socket(addresses: tuple[Address, ...], port: int, deadline: float) -> socket.socket:
    """Connect to the first address that answers. Raises MailFailed."""
    loop = asyncio.get_running_loop()
    failure = MailFailed("not_reachable", "No connection could be made.")
    candidates = addresses[:_MAX_ADDRESSES]
    for number, address in enumerate(candidates):
        share_s = (deadline - loop.time()) / (len(candidates) - number)
        try:
            return await _connect(address, port, share_s)
        except OSError as error:
            failure = failed(error)
    raise failure


async def open_streams(sock: socket.socket, server: Server, deadline: float) -> Streams:
    """The streams of a connected socket, with TLS if it begins at once. Raises MailFailed."""
    is_tls = server.security == "tls"
    try:
        async with asyncio.timeout_at(deadline):
            reader, writer = await asyncio.open_connection(
                sock=sock,
                limit=MAX_LINE_BYTES,
                ssl=tls_context() if is_tls else None,
                server_hostname=server_name(server.host) if is_tls else None,
                ssl_shutdown_timeout=_TLS_SHUTDOWN_S if is_tls else None,
            )
    except OSError as error:
        sock.close()
        raise failed(error) from None
    except BaseException:
        sock.close()
        raise
    return Streams(reader, writer)


async def start_tls(streams: Streams, host: str, deadline: float) -> None:
    """Start TLS after the server has agreed to STARTTLS. Raises MailFailed."""
    # What came before TLS could be of somebody on the way, and must not count as the server's.
    if streams.reader._buffer:  # type: ignore[attr-defined] # asyncio has no other way to ask
        raise MailFailed("tls_failed", "The server sent data before TLS had begun.")
    try:
        async with asyncio.timeout_at(deadline):
            await streams.writer.start_tls(tls_context(), server_hostname=server_name(host))
    except OSError as error:
        raise failed(error) from None


async def read_line(reader: asyncio.StreamReader, deadline: float) -> bytes:
    """One line of a response, without its end. Raises MailFailed."""
    try:
        async with asyncio.timeout_at(deadline):
            line = await reader.readline()
    except ValueError:
        raise MailFailed("unexpected_answer", "The server sent a line without an end.") from None
    except OSError as error:
        raise failed(error) from None
    if not line.endswith(b"\n"):
        raise MailFailed("closed", "The server closed the connection.")
    return line.rstrip(b"\r\n")


def server_name(host: str) -> str:
    """The name that the server's certificate must have."""
    return str(parse_host(host)).removesuffix(".")


@cache
def tls_context() -> ssl.SSLContext:
    """TLS 1.2 or newer; trusts the system's certificate authorities or SSL_CERT_FILE."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def failed(error: Exception) -> MailFailed:
    """What an error of a connection means."""
    if isinstance(error, TimeoutError):
        return MailFailed("timed_out", "There was no response in time.")
    if isinstance(error, ssl.SSLCertVerificationError):
        generic = f"The certificate is invalid: {error.verify_message}."
        detail = CERTIFICATE_ERRORS.get(error.verify_code, generic)
        return MailFailed("certificate_invalid", detail)
    if isinstance(error, ssl.SSLError):
        return MailFailed("tls_failed", "The server does not speak TLS 1.2 or newer there.")
    if isinstance(error, ConnectionRefusedError):
        return MailFailed("not_reachable", "The connection was refused.")
    if isinstance(error, ConnectionError):
        return MailFailed("closed", "The server closed the connection.")
    return MailFailed("not_reachable", "There is no route to the address.")


def quote(answer: bytes | str, *secrets: str) -> str:
    """What a server answered, for people: printable, at most 200 characters, without secrets."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return "".join(each if each.isprintable() else " " for each in text).strip()[:_MAX_DETAIL]


async def _connect(address: Address, port: int, limit_s: float) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        async with asyncio.timeout(limit_s):
            # The checked address, never the name, which could resolve to another address now.
            await asyncio.get_running_loop().sock_connect(sock, (str(address), port))
    except BaseException:
        sock.close()
        raise
    return sock
