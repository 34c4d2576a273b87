"""`python -m docs_builder`: builds the documentation when its sources have changed."""

import hashlib
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_FOLDERS = ("docs", "docs_builder", "src/sealdesk", "tests/vectors", "clients")
_ARCHIVE = _ROOT / "src" / "sealdesk" / "web" / "documentation.msgpack"
_NOTE = _ROOT / "build" / "documentation.sources"


def main(arguments: list[str]) -> int:
    """Build into the package, or into the file that is named. `--if-changed`: only if outdated."""
    paths = [Path(each) for each in arguments if not each.startswith("--")]
    if "--if-changed" in arguments and _are_unchanged():
        return 0
    from docs_builder import archive  # late: it imports the service, which takes 0.5 s
    from docs_builder.site import BrokenSite

    try:
        files = archive.build()
    except BrokenSite as faults:
        print(f"docs: not built:\n{faults}", file=sys.stderr)
        return 1
    archive.write(files, *paths)
    size = sum(len(file.content) for file in files.values())
    print(f"docs: {len(files)} files, {size / 1024:,.0f} KiB")
    if not paths:
        _note_sources()
    return 0


def _are_unchanged() -> bool:
    """Whether the archive is there and made of the present files."""
    return _ARCHIVE.exists() and _NOTE.exists() and _NOTE.read_text() == _fingerprint()


def _note_sources() -> None:
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
