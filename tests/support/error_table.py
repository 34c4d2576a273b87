"""`python -m tests.support.error_table` writes the error codes into docs/api/errors.md."""

from pathlib import Path

from sealdesk.routes import PROBLEM_TYPES

REMEDY = "run .venv/bin/python -m tests.support.error_table"
_GUIDE = Path(__file__).parents[2] / "docs" / "api" / "errors.md"
_HEAD = "| Status | Code | Meaning | Remedy |\n|---|---|---|---|\n"


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


if __name__ == "__main__":
    text, _, _ = _GUIDE.read_text().partition(_HEAD)
    _GUIDE.write_text(text + declared())
