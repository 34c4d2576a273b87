"""`python -m tests.i18n`: take the texts out of the source anew, and say which lack a translation.

Translations whose text is there no more are left out.
"""

import sys

from tests.i18n import extracting


def main() -> int:
    """How many texts lack a translation, as an exit code."""
    extracting.POT.parent.mkdir(exist_ok=True)
    extracting.POT.write_text(extracting.pot())
    lacking = 0
    for language in extracting.OTHERS:
        text, path = extracting.po(language), extracting.po_path(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        missing = [
            entry.one for entry in extracting.translated(language).values() if not entry.is_whole
        ]
        lacking += len(missing)
        sys.stdout.write("".join(f"{language} lacks {text!r}\n" for text in missing))
    return min(lacking, 1)


if __name__ == "__main__":
    sys.exit(main())
