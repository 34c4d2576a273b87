"""The three headers of a signed request: their shape, and how old they are (decisions 3)."""

from typing import Any, NamedTuple

from sealdesk.crypto import signing
from sealdesk.errors import Unauthorized
from sealdesk.web.request import Request

_HEADERS = (b"x-api-key", b"x-api-signature", b"x-api-timestamp")


class SignatureHeaders(NamedTuple):
    """The three headers, well formed."""

    api_key: str
    signature: bytes
    timestamp: bytes


def read_signature_headers(request: Request) -> SignatureHeaders:
    """The three headers. Raises Unproven when they are not there, once each, and well formed."""
    values = []
    for name in _HEADERS:
        value = request.headers.get(name)
        if value is None:
            raise unproven(
                "missing_credentials",
                f"The header {name.decode()} is missing; a signed request carries x-api-key,"
                " x-api-timestamp and x-api-signature.",
            )
        if request.is_repeated(name):
            raise _malformed(f"The header {name.decode()} was sent more than once.")
        values.append(value.strip(b" \t"))
    api_key, signature, timestamp = values
    if signing.API_KEY.fullmatch(api_key) is None:
        raise _malformed("x-api-key must be tk_live_ and 40 lower-case hex characters.")
    if signing.SIGNATURE.fullmatch(signature) is None:
        raise _malformed_signature(signature)
    if signing.TIMESTAMP.fullmatch(timestamp) is None:
        raise _malformed_timestamp(timestamp)
    return SignatureHeaders(api_key.decode(), signature, timestamp)


def _malformed_signature(signature: bytes) -> Unauthorized:
    detail = "x-api-signature must be 64 lower-case hex characters."
    if signing.SIGNATURE.fullmatch(signature.lower()) is not None:
        return _malformed(f"{detail} Yours is in upper case.", diagnosis="uppercase_hex")
    return _malformed(detail)


def _malformed_timestamp(timestamp: bytes) -> Unauthorized:
    if len(timestamp) == 13 and timestamp.isdigit():
        return unproven(
            "timestamp_not_seconds",
            "x-api-timestamp has 13 digits: it is in milliseconds. Send whole seconds, and sign"
            " the same text.",
            diagnosis="timestamp_milliseconds",
        )
    return _malformed("x-api-timestamp must be the Unix time in seconds: ten ASCII digits.")


def check_time(request: Request, timestamp: bytes) -> None:
    """Raises Unproven when the clocks are too far apart."""
    max_skew_s = request.state.settings.max_skew_s
    server_time = request.now_us // 1_000_000
    request.skew_s = server_time - int(timestamp)
    if abs(request.skew_s) > max_skew_s:
        way = "behind" if request.skew_s > 0 else "ahead of"
        raise unproven(
            "timestamp_out_of_range",
            f"x-api-timestamp is {abs(request.skew_s)} s {way} the server's time; up to"
            f" {max_skew_s} s is accepted. Set the clock, or ask GET /api/v1/time.",
            server_time=server_time,
            max_skew_seconds=max_skew_s,
        )


def unproven(code: str, detail: str, **members: Any) -> Unauthorized:
    """A 401 that names the scheme of signatures."""
    return Unauthorized(code, detail, headers=(("www-authenticate", "HMAC-SHA256"),), **members)


def replayed() -> Unauthorized:
    """A 401 for a signature that was used before."""
    return unproven(
        "signature_replayed",
        "This signature has had its effect, and the key accepts each one once. Sign again with a"
        " new timestamp.",
    )


def _malformed(detail: str, **members: Any) -> Unauthorized:
    return unproven("malformed_credentials", detail, **members)
