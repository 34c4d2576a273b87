"""Connecting to an address that was checked, with TLS for the name that it was checked for."""

import asyncio
import ssl

from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connection import Connection
from sealdesk.http_client.errors import RequestFailed
from sealdesk.http_client.urls import Destination

_GOODBYE_S = 1.0
_TRIED = 4  # addresses of a name with many
# By OpenSSL's X509_V_ERR numbers; what is not listed is told in OpenSSL's words.
_CERTIFICATE = {
    9: "The certificate is not valid yet.",
    10: "The certificate has expired.",
    18: "The certificate is signed by itself.",
    19: "The certificate is signed by an authority that is not trusted.",
    20: "The certificate is signed by an authority that is not trusted, or one between is missing.",
    62: "The certificate is for another name.",
    64: "The certificate is for another address.",
}


def trusting_the_system() -> ssl.SSLContext:
    """TLS 1.2 or newer, certificates by the system's authorities or by SSL_CERT_FILE."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    destination: Destination,
    addresses: tuple[Address, ...],
    context: ssl.SSLContext | None,
    until: float,
) -> tuple[Address, Connection]:
    """Connect to the first of the addresses that lets us. Raises Unsent (url_unreachable).

    until: of the loop's clock; addresses that do not answer share the time that is left.
    """
    loop = asyncio.get_running_loop()
    failure = RequestFailed("url_unreachable", "No connection could be made.")
    tried = addresses[:_TRIED]
    for number, address in enumerate(tried):
        share_s = (until - loop.time()) / (len(tried) - number)
        try:
            async with asyncio.timeout(share_s):
                return address, await _connect(destination, address, context)
        except OSError as error:
            failure = RequestFailed("url_unreachable", _why(error))
    raise failure


async def _connect(
    destination: Destination, address: Address, context: ssl.SSLContext | None
) -> Connection:
    # An address, never the name: what is connected to is what was checked.
    _, connection = await asyncio.get_running_loop().create_connection(
        Connection,
        str(address),
        destination.port,
        ssl=context,
        server_hostname=None if context is None else destination.name,
        ssl_shutdown_timeout=None if context is None else _GOODBYE_S,
    )
    return connection


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "No connection was made in time."
    if isinstance(error, ssl.SSLCertVerificationError):
        plain = f"The certificate does not hold: {error.verify_message}."
        return _CERTIFICATE.get(error.verify_code, plain)
    if isinstance(error, ssl.SSLError):
        return "TLS failed: the receiver does not speak TLS 1.2 or newer there."
    if isinstance(error, ConnectionRefusedError):
        return "The connection was refused."
    if isinstance(error, ConnectionError):
        return "The connection was closed before TLS was agreed."
    return "There is no way to the address."
