"""E-mail addresses: which are well formed, and when two are the same."""

import unicodedata
from functools import lru_cache

from email_validator import EmailNotValidError, validate_email

MAX_LENGTH = 254  # RFC 5321 4.5.3.1.3, less the angle brackets


def identity(address: str) -> str:
    """What makes two addresses the same one: NFC and lower case, the same on every database."""
    return unicodedata.normalize("NFC", address).lower()


@lru_cache(maxsize=4096)
def fault(address: str) -> str | None:
    """What is wrong with an address, or None when it is well formed.

    Cached: the check takes 40 to 60 µs, and the same customers come back.
    """
    if len(address) > MAX_LENGTH:
        return f"must be at most {MAX_LENGTH} characters"
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        return f"is not an e-mail address: {error}"
    return None
