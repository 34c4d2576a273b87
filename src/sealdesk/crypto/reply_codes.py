"""The random codes of reply addresses, `desk+CODE@example.com`."""

import base64
import re
import secrets

_CODE_BYTES = 16
_CODE = re.compile(r"[a-z2-7]{26}")


def new_reply_code() -> str:
    """128 random bits in base32. Servers may change the case of it, so it has only one."""
    return base64.b32encode(secrets.token_bytes(_CODE_BYTES)).decode().rstrip("=").lower()


def find_reply_code(address: str) -> str | None:
    """The code in a reply address, None for an address without one."""
    _, plus, code = address.rpartition("@")[0].lower().rpartition("+")
    return code if plus and _CODE.fullmatch(code) else None
