"""`python -m docs_builder`: builds the documentation when its sources have changed."""

import sys
from pathlib import Path

from docs_builder import sources


def main(arguments: list[str]) -> int:
    """Build into the package, or into the file that is named. `--if-changed`: only if outdated."""
    paths = [Path(each) for each in arguments if not each.startswith("--")]
    if "--if-changed" in arguments and sources.are_unchanged():
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
        sources.note()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
