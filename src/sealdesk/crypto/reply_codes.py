"""The random codes of reply addresses, `desk+CODE@example.com`."""

import base64
import secrets

_CODE_BYTES = 16


def new_reply_code() -> str:
    """128 random bits in base32. Servers may change the case of it, so it has only one."""
    return base64.b32encode(secrets.token_bytes(_CODE_BYTES)).decode().rstrip("=").lower()
