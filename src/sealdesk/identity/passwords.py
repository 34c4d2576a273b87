"""Password hashes: argon2id, at most four at once, so that log-ins cannot starve the API."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

_HASHER = PasswordHasher(time_cost=1, memory_cost=47104, parallelism=1)  # ASVS 5.0, appendix C
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="password")
# Of a random text that nobody kept: looked at when there is no user, for the same work.
_NOBODYS_HASH = (
    "$argon2id$v=19$m=47104,t=1,p=1"
    "$wrE5HpC9xm3t63pUdvkiWw$gjmbyiki/DhBVLjZrb41nK6Se1JfgHb7ilvoXYDSocU"
)


def hash_now(password: str) -> str:
    """The hash of a password, on the calling thread (about 55 ms)."""
    return _HASHER.hash(password)


async def hash_of(password: str) -> str:
    """The hash of a password."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, hash_now, password)


async def is_right(password: str, password_hash: str | None) -> bool:
    """Whether the password fits; without a hash the same work is done, and it does not."""
    return await asyncio.get_running_loop().run_in_executor(
        _THREADS, _is_right_now, password, password_hash
    )


def _is_right_now(password: str, password_hash: str | None) -> bool:
    try:
        _HASHER.verify(password_hash or _NOBODYS_HASH, password)
    except (VerifyMismatchError, InvalidHashError):
        return False
    return password_hash is not None
