"""`python -m tests.support.error_table` writes the error codes into docs/api/errors.md.

It also writes the table of mistakes into docs/api/signing.md.
"""

from pathlib import Path

from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.routes import PROBLEM_TYPES

REMEDY = "run .venv/bin/python -m tests.support.error_table"
_GUIDE = Path(__file__).parents[2] / "docs" / "api" / "errors.md"
_HEAD = "| Status | Code | Meaning | Remedy |\n|---|---|---|---|\n"
_SIGNING = _GUIDE.with_name("signing.md")
_MISTAKES_HEAD = "| `diagnosis` | Mistake | Remedy |\n|---|---|---|\n"


def declared() -> str:
    """The table as the declarations have it."""
    rows = sorted(PROBLEM_TYPES, key=lambda each: each.status)
    return _HEAD + "".join(
        f"| {each.status} | `{each.code}` | {each.meaning} | {each.remedy} |\n" for each in rows
    )


def in_guide() -> str:
    """The table as the guide has it: from its head to the end of the file."""
    _, head, rows = _GUIDE.read_text().partition(_HEAD)
    return head + rows


def declared_mistakes() -> str:
    """The table of mistakes as the source has it."""
    rows = (
        f"| `{each.name}` | {each.fault} | {each.remedy} |\n"
        for each in MISTAKES.values()
        if each.code
    )
    return _MISTAKES_HEAD + "".join(rows)


def mistakes_in_guide() -> str:
    """The table as the guide has it: from its head to the next empty line."""
    _, head, rest = _SIGNING.read_text().partition(_MISTAKES_HEAD)
    return head + rest.partition("\n\n")[0] + "\n"


if __name__ == "__main__":
    text, _, _ = _GUIDE.read_text().partition(_HEAD)
    _GUIDE.write_text(text + declared())
    guide = _SIGNING.read_text().replace(mistakes_in_guide(), declared_mistakes())
    _SIGNING.write_text(guide)
