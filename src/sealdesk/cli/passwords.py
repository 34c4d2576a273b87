"""Asking for a new password: on a hidden prompt or from stdin, never as an argument."""

import getpass
import sys
from collections.abc import Collection

from sealdesk.errors import ConfigurationError
from sealdesk.identity.auth.passwords import find_fault, hash_now
from sealdesk.identity.rules import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH


def new_password_hash(from_stdin: bool, own_words: Collection[str], *, option: str) -> str:
    """The hash of a new password that is long enough and not easily guessed. Raises Unfit.

    option: what makes the command read stdin, for the advice.
    """
    if from_stdin:
        password = _first_line()
    elif sys.stdin.isatty():
        password = getpass.getpass("New password: ")
        if getpass.getpass("The same again: ") != password:
            raise ConfigurationError("the two passwords differ; nothing was changed")
    else:
        raise ConfigurationError(
            f"there is no terminal to ask for the password; pipe it in with {option}"
        )
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise ConfigurationError(
            f"the password must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters;"
            " nothing was changed"
        )
    fault = find_fault(password, own_words)
    if fault is not None:
        raise ConfigurationError(f"{fault[1]} Nothing was changed.")
    return hash_now(password)


def _first_line() -> str:
    try:
        return sys.stdin.buffer.readline().decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigurationError("the password on stdin is not UTF-8") from error
