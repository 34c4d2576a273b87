"""Connects to a checked address, with TLS for the name that it was resolved from."""

import asyncio
import ssl

from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connection import Connection
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.urls import Destination

_TLS_SHUTDOWN_S = 1.0
_MAX_ADDRESSES = 4  # of a name with more addresses, only these are tried
# By OpenSSL's X509_V_ERR codes; other codes are reported with OpenSSL's message.
CERTIFICATE_ERRORS = {
    9: "The certificate is not valid yet.",
    10: "The certificate has expired.",
    18: "The certificate is self-signed.",
    19: "The certificate is signed by an authority that is not trusted.",
    20: "The certificate's authority is not trusted, or an intermediate certificate is missing.",
    62: "The certificate is for another name.",
    64: "The certificate is for another address.",
}


def make_tls_context() -> ssl.SSLContext:
    """TLS 1.2 or newer; trusts the system's certificate authorities or SSL_CERT_FILE."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    destination: Destination,
    addresses: tuple[Address, ...],
    context: ssl.SSLContext | None,
    deadline: float,
) -> tuple[Address, Connection]:
    """Connect to the first reachable address. Raises RequestFailed (url_unreachable).

    deadline: in the loop's time; the addresses share the time that remains.
    """
    loop = asyncio.get_running_loop()
    failure = RequestFailed("url_unreachable", "No connection could be made.")
    candidates = addresses[:_MAX_ADDRESSES]
    for number, address in enumerate(candidates):
        share_s = (deadline - loop.time()) / (len(candidates) - number)
        try:
            async with asyncio.timeout(share_s):
                return address, await _connect(destination, address, context)
        except OSError as error:
            failure = RequestFailed("url_unreachable", _explain(error))
    raise failure


async def _connect(
    destination: Destination, address: Address, context: ssl.SSLContext | None
) -> Connection:
    # The checked address, never the name, which could resolve to another address now.
    _, connection = await asyncio.get_running_loop().create_connection(
        Connection,
        str(address),
        destination.port,
        ssl=context,
        server_hostname=None if context is None else destination.name,
        ssl_shutdown_timeout=None if context is None else _TLS_SHUTDOWN_S,
    )
    return connection


def _explain(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "No connection was made in time."
    if isinstance(error, ssl.SSLCertVerificationError):
        generic = f"The certificate is invalid: {error.verify_message}."
        return CERTIFICATE_ERRORS.get(error.verify_code, generic)
    if isinstance(error, ssl.SSLError):
        return "TLS failed: the receiver does not speak TLS 1.2 or newer there."
    if isinstance(error, ConnectionRefusedError):
        return "The connection was refused."
    if isinstance(error, ConnectionError):
        return "The connection was closed during the TLS handshake."
    return "There is no route to the address."
