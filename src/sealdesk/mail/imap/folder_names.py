"""The names of folders in modified UTF-7 (RFC 3501, section 5.1.3)."""

import base64
import re

_RUNS = re.compile(r"&|[\x20-\x25\x27-\x7e]+|[^\x20-\x7e]+")


def encode_folder(name: str) -> bytes:
    """The name as servers know it."""
    return b"".join(
        b"&-" if run == "&" else run.encode() if run.isascii() else _encode_run(run)
        for run in _RUNS.findall(name)
    )


def _encode_run(text: str) -> bytes:
    encoded = base64.b64encode(text.encode("utf-16-be")).rstrip(b"=")
    return b"&" + encoded.replace(b"/", b",") + b"-"
