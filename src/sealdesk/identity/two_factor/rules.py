"""The rules of second factors: which codes are accepted, and how often one may be tried; no IO."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

import msgspec
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from sealdesk.identity.types import FailureLimit

# What every authenticator app supports (RFC 6238, section 4): SHA-1, 6 digits, 30 seconds.
_DIGITS = 6
_STEP_S = 30
_SECRET_BYTES = 20
# The codes of the steps before and after are accepted too: clocks differ, and typing takes time.
_WINDOW_STEPS = 1
RECOVERY_CODE_COUNT = 10
_RECOVERY_BYTES = 10  # 80 bits, so that an unsalted hash cannot be searched
_RECOVERY_GROUP = 4
# The log-in form keeps what has been proven by the password for so long.
PENDING_LIFE_US = 5 * 60 * 1_000_000
_MINUTE_US = 60 * 1_000_000


class SecondFactor(msgspec.Struct, frozen=True):
    """The second factor of a user.

    recovery_hashes: of the recovery codes that are left.
    last_step: the 30-second step of the last accepted code, 0 before the first.
    confirmed_at: when the user proved that their app has the secret; log-ins need a code from then.
    """

    tenant_id: str
    user_id: str
    sealed_secret: bytes
    recovery_hashes: tuple[str, ...]
    last_step: int
    created_at: int
    confirmed_at: int | None

    def __repr__(self) -> str:
        return f"SecondFactor(user_id={self.user_id!r})"


def mint_secret() -> str:
    """A new secret, in the base32 that authenticator apps take."""
    return base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def otpauth_uri(secret: str, email: str) -> str:
    """The URI in the QR code that authenticator apps scan."""
    totp = TOTP(base64.b32decode(secret), _DIGITS, SHA1(), _STEP_S)  # noqa: S303 - apps know no other
    return totp.get_provisioning_uri(email, "Sealdesk")


def find_step(factor: SecondFactor, secret: str, code: str, now_us: int) -> int | None:
    """The step whose code this is, near the present one; None for a wrong or used code."""
    hotp = HOTP(base64.b32decode(secret), _DIGITS, SHA1())  # noqa: S303 - apps know no other
    present = now_us // (_STEP_S * 1_000_000)
    matching = [
        step
        for step in range(present - _WINDOW_STEPS, present + _WINDOW_STEPS + 1)
        if hmac.compare_digest(hotp.generate(step), _compact(code).encode())
    ]
    return next((step for step in matching if not _is_used(factor, step)), None)


def _is_used(factor: SecondFactor, step: int) -> bool:
    # A step far ahead was used while the clock was wrong; it must not refuse codes until then.
    return step <= factor.last_step <= step + 2 * _WINDOW_STEPS


def mint_recovery_codes() -> tuple[str, ...]:
    """New recovery codes, such as "k3vt-qu5a-v2my-b7nc"."""
    return tuple(_mint_recovery_code() for _ in range(RECOVERY_CODE_COUNT))


def _mint_recovery_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    groups = (text[at : at + _RECOVERY_GROUP] for at in range(0, len(text), _RECOVERY_GROUP))
    return "-".join(groups)


def hash_recovery_codes(codes: Sequence[str]) -> tuple[str, ...]:
    return tuple(hash_recovery_code(code) for code in codes)


def hash_recovery_code(code: str) -> str:
    """The hash of a recovery code, however its groups and letters are written."""
    return hashlib.sha256(_compact(code).encode()).hexdigest()


def _compact(code: str) -> str:
    return "".join(code.split()).replace("-", "").lower()


def code_limits(user_id: str) -> tuple[FailureLimit, ...]:
    """How many codes may be wrong. They are counted for the user, whatever the address: whoever
    tries codes has the password already."""
    return (
        FailureLimit(f"code of {user_id}", 5, 5 * _MINUTE_US),
        FailureLimit(f"code of {user_id} in an hour", 20, 60 * _MINUTE_US),
    )


def secret_label(tenant_id: str, user_id: str) -> str:
    """The associated data of a sealed secret."""
    return f"second factor {tenant_id} {user_id}"


def fingerprint(password_hash: str) -> str:
    """Identifies a password hash, so that a log-in begun with an earlier password ends."""
    return hashlib.sha256(password_hash.encode()).hexdigest()
