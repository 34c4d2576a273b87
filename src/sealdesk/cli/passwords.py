"""Reads a new password from a hidden prompt or from stdin; never from an argument."""

import getpass
import sys
from collections.abc import Collection

from sealdesk.errors import ConfigurationError
from sealdesk.identity.auth.passwords import find_fault, hash_now
from sealdesk.identity.types import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH

_NOT_UTF_8 = "the password on stdin is not UTF-8"


def ask_password_hash(from_stdin: bool, forbidden_words: Collection[str], *, option: str) -> str:
    """Read a new password, check it and return its hash. Raises ConfigurationError.

    forbidden_words: words that the password may not consist of, such as the user's name.
    option: the option that reads the password from stdin; error messages name it.
    """
    if from_stdin:
        password = read_password_line()
    elif sys.stdin.isatty():
        password = getpass.getpass("New password: ")
        if getpass.getpass("Repeat the password: ") != password:
            raise ConfigurationError(
                "the two passwords differ; nothing was changed. Run the command again"
            )
    else:
        raise ConfigurationError(
            f"there is no terminal to ask for the password: pipe it to stdin and add {option}"
        )
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise ConfigurationError(
            f"the password must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters;"
            " nothing was changed"
        )
    fault = find_fault(password, forbidden_words)
    if fault is not None:
        raise ConfigurationError(f"{fault.detail} Nothing was changed.")
    return hash_now(password)


def read_password_line() -> str:
    """The first line of stdin, without the mark that Windows writes before UTF-8.

    Raises ConfigurationError.
    """
    try:
        line = sys.stdin.buffer.readline().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigurationError(_NOT_UTF_8) from error
    if "\0" in line:  # UTF-16 without a mark
        raise ConfigurationError(_NOT_UTF_8)
    return line
