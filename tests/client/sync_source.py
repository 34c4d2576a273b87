"""`python -m tests.client.sync_source`: make `sealdesk.client.sync` from `sealdesk.client.aio`.

The client for asyncio is written by hand. Without asyncio it is the same text with fewer words.
"""

import re
import subprocess
import sys
from pathlib import Path

import sealdesk.client

CLIENT = Path(sealdesk.client.__file__).parent
HEADER = "# Made by `python -m tests.client.sync_source` from {}: change that file.\n"
_WORDS = (
    (r"\b(async|await) ", ""),
    (r"\bAsync(?=[A-Z])|\basync_(?=[a-z])", ""),
    (r"__a(enter|exit|iter)__", r"__\1__"),
    (r"\.a(close|iter_raw)\(", r".\1("),
    (r"\bAwaitable\[((?:\w|\[\w+\])+)\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"\basyncio\.sleep", "time.sleep"),
    (r"^import asyncio\n", ""),
    (r"\bclient\.aio\b", "client.sync"),
    (r"\bprograms with asyncio", "programs without asyncio"),
    (r"\bMay be shared by event loops\.", "May be shared by threads."),
    (r"\basyncio\.get_running_loop\b", "find_no_loop"),
    (r"\bimport OwnClients$", "import OwnClients, find_no_loop"),
)


def made() -> dict[Path, str]:
    """The texts of `sync` by their paths."""
    sources = [each for each in (CLIENT / "aio").glob("*.py") if each.stem != "__init__"]
    names = {CLIENT / "sync" / each.name: each for each in sources}
    return {name: _without_asyncio(source, name) for name, source in names.items()}


def _without_asyncio(source: Path, name: Path) -> str:
    text = source.read_text()
    for pattern, replacement in _WORDS:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    text = HEADER.format(source.relative_to(CLIENT.parent)) + text
    for command in (["check", "--fix-only", "--unsafe-fixes", "--select=I,UP028"], ["format"]):
        ruff = [
            sys.executable,
            "-m",
            "ruff",
            *command,
            "--quiet",
            "--stdin-filename",
            str(name),
            "-",
        ]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text)
