"""Where a command takes the secret of an endpoint from: never an argument."""

import getpass
import os
import sys
from pathlib import Path

from sealdesk.errors import ConfigurationError

VARIABLE = "SEALDESK_WEBHOOK_SECRET"


def from_environment() -> str:
    """The secret, "" when there is none."""
    return os.environ.get(VARIABLE, "").strip()


def ask(file: Path | None) -> str:
    """The secret of this file, of the environment, or typed in. Raises Unfit, OSError."""
    if file is not None:
        return _first_word(file)
    secret = from_environment()
    if secret:
        return secret
    if not sys.stdin.isatty():
        raise ConfigurationError(
            f"there is no secret: set {VARIABLE}, or name a file with --secret-file"
        )
    return getpass.getpass("Secret (whsec_…): ").strip()


def _first_word(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace").strip()
