"""Whether anything of which the site is made has changed since it was built."""

import hashlib
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_FOLDERS = ("docs", "docs_builder", "src/sealdesk", "tests/vectors", "clients")
_ARCHIVE = _ROOT / "src" / "sealdesk" / "web" / "documentation.msgpack"
_NOTE = _ROOT / "build" / "documentation.sources"


def are_unchanged() -> bool:
    """Whether the archive is there and made of the present files."""
    return _ARCHIVE.exists() and _NOTE.exists() and _NOTE.read_text() == _fingerprint()


def note() -> None:
    """Remember the files of which the archive is made."""
    _NOTE.parent.mkdir(exist_ok=True)
    _NOTE.write_text(_fingerprint())


def _fingerprint() -> str:
    """A hash of the path, size and time of change of each file, and of the archive."""
    found = [_ARCHIVE]
    for folder in _FOLDERS:
        found += (path for path in (_ROOT / folder).rglob("*") if _is_source(path))
    lines = []
    for path in sorted(set(found)):
        about = path.stat()
        lines.append(f"{path} {about.st_size} {about.st_mtime_ns}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_source(path: Path) -> bool:
    kinds = {".md", ".toml", ".py", ".txt", ".html", ".css", ".js", ".ts", ".json", ".webp"}
    return path.suffix in kinds and "node_modules" not in path.parts
