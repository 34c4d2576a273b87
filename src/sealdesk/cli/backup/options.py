"""Options that both commands have."""

from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated

import typer

from sealdesk.crypto.encrypted_file import MIN_PASSPHRASE_LENGTH
from sealdesk.errors import ConfigurationError

PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file whose first line is the passphrase; `openssl rand -base64 32` makes one.",
    ),
]


def read_passphrase(path: Path | None) -> bytes | None:
    """The passphrase, None without a file. Raises ConfigurationError, OSError."""
    if path is None:
        return None
    lines = path.read_bytes().removeprefix(BOM_UTF8).splitlines()
    passphrase = (lines or [b""])[0].strip()
    if len(passphrase) < MIN_PASSPHRASE_LENGTH:
        raise ConfigurationError(
            f"{path} must hold at least {MIN_PASSPHRASE_LENGTH} characters in its first line;"
            " make one with: openssl rand -base64 32"
        )
    return passphrase
