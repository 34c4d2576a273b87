"""Reads the secret of an endpoint from a file, the environment or a prompt."""

import getpass
import os
import sys
from pathlib import Path

from sealdesk.errors import ConfigurationError

VARIABLE = "SEALDESK_WEBHOOK_SECRET"


def from_environment() -> str:
    """Return the secret, or "" if it is not set."""
    return os.environ.get(VARIABLE, "").strip()


def read_secret(file: Path | None) -> str:
    """Read the secret from the file, the environment or a prompt, in this order.

    Raises ConfigurationError, OSError.
    """
    if file is not None:
        return _read_file(file)
    secret = from_environment()
    if secret:
        return secret
    if not sys.stdin.isatty():
        raise ConfigurationError(
            f"the secret is missing: set {VARIABLE}, or name a file with --secret-file"
        )
    return getpass.getpass("Secret (whsec_…): ").strip()


def _read_file(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig", "replace").strip()
