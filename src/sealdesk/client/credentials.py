"""The API key, its secret and the URL of the service, checked before anything is sent."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from sealdesk.client.errors import InvalidConfiguration

DEFAULT_URL = "http://127.0.0.1:8000"
KEY_VARIABLE = "SEALDESK_API_KEY"
SECRET_VARIABLE = "SEALDESK_API_SECRET"  # noqa: S105 # the name of the variable
URL_VARIABLE = "SEALDESK_API_URL"
_API_KEY = re.compile(r"tk_[a-z]{1,16}_[0-9a-f]{40}")
_SECRET = re.compile(r"[0-9a-f]{64}")
_KEY_FORM = "tk_live_ or tk_test_ and 40 hex characters"
_SECRET_FORM = "64 hex characters"  # noqa: S105 # says how secrets look
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"
_API_PATHS = ("/api/v1/external", "/api/v1", "/api")


class Credentials(NamedTuple):
    """An API key with its secret, which no text form shows."""

    api_key: str
    secret: str

    def __repr__(self) -> str:
        return f"Credentials({self.api_key[:16]}…, ***)"


def check_credentials(
    api_key: str, secret: str, names: tuple[str, str] = ("api_key", "api_secret")
) -> Credentials:
    """Return the credentials. Raises InvalidConfiguration, which names the mistake."""
    key_name, secret_name = names
    _check_text(api_key or "", key_name)
    _check_text(secret or "", secret_name)
    mistake = _find_mistake_in_key(api_key)
    if mistake:
        raise InvalidConfiguration(f"{key_name} {mistake} (it must be {_KEY_FORM})")
    mistake = _find_mistake_in_secret(secret)
    if mistake:
        raise InvalidConfiguration(f"{secret_name} {mistake} (it must be {_SECRET_FORM})")
    return Credentials(api_key, secret)


def read_credentials(environment: Mapping[str, str] = os.environ) -> Credentials:
    """Read the credentials of SEALDESK_API_KEY and SEALDESK_API_SECRET.

    Raises InvalidConfiguration.
    """
    return check_credentials(
        environment.get(KEY_VARIABLE, ""),
        environment.get(SECRET_VARIABLE, ""),
        (KEY_VARIABLE, SECRET_VARIABLE),
    )


def read_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return SEALDESK_API_URL without a trailing slash, or the URL of a service on this machine.

    Raises InvalidConfiguration.
    """
    return check_url(environment.get(URL_VARIABLE) or DEFAULT_URL, name=URL_VARIABLE)


def check_url(url: str, *, name: str = "base_url") -> str:
    """Return the URL of a service without a trailing slash. Raises InvalidConfiguration."""
    _check_text(url, name)
    parts = _split_url(url)
    if parts is None:
        raise InvalidConfiguration(f"{name} must be a URL such as {DEFAULT_URL}, not {url!r}")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidConfiguration(
            f"{name} must have no user name, query or fragment: only scheme, host, port and path"
        )
    bare = url.rstrip("/")
    for path in _API_PATHS:
        if bare.endswith(path):
            raise InvalidConfiguration(
                f"{name} must end before {path}: use {bare.removesuffix(path)}"
            )
    return bare


def is_http_url(url: str) -> bool:
    """Whether it is an http:// or https:// URL in ASCII."""
    return _split_url(url) is not None


def _split_url(url: str) -> SplitResult | None:
    """Return the parts of a URL, or None if it is not an http:// or https:// URL."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # an invalid port or host
        return None
    has_spaces = any(character.isspace() for character in url)
    return parts if is_usable and url.isascii() and not has_spaces else None


def _check_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise InvalidConfiguration(f"{name} must be a str, not {type(value).__name__}")


def _find_mistake_in_key(text: str) -> str:
    if not text:
        return "is not set"
    if _API_KEY.fullmatch(text):
        return ""
    if _SECRET.fullmatch(text.strip()):
        return "holds the secret; the two are swapped"
    if text.strip().endswith("…") or re.fullmatch(r"tk_[a-z]+_[0-9a-f]{8}", text.strip()):
        return "is only the visible part that lists show, not the whole key"
    return _find_mistake_in_text(text) or _wrong_length(text, 48) or "is malformed"


def _find_mistake_in_secret(text: str) -> str:
    if not text:
        return "is not set"
    if _SECRET.fullmatch(text):
        return ""
    if text.strip().startswith("tk_"):
        return "holds the API key; the secret is shown beside it when it is created or rotated"
    if text.strip().startswith("whsec_"):
        return "holds the secret of a webhook endpoint, which signs webhooks only"
    return _find_mistake_in_text(text) or _wrong_length(text, 64) or "is malformed"


def _find_mistake_in_text(text: str) -> str:
    """Return the mistake of copying that any credential can have."""
    if text != text.strip().strip("\ufeff"):  # the byte order mark of Windows
        return "has a space or line break at its start or end; remove it"
    if any(character.isspace() for character in text):
        return "has a space or line break in it; remove it"
    if text[0] in _QUOTES or text[-1] in _QUOTES:
        return "is in quotes; remove them"
    return "is in upper case; use it as it was shown" if text != text.lower() else ""


def _wrong_length(text: str, length: int) -> str:
    if len(text) == length:
        return ""
    return f"has {len(text)} characters instead of {length}; was it cut off?"
