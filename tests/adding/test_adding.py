"""The recipes of docs/adding.md touch few files, and work."""

import subprocess
from pathlib import Path

import pytest

from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS
from sealdesk.tickets.ticket.types import NEWEST_MEMBER
from tests.mutants.sandbox import copy_sources, run

FOLDER = Path(__file__).parent
# The .pot, and the .po and .mo of a language, which `python -m tests.i18n` writes.
CATALOGUES = 3
USES = 1  # the place that reads a setting


def _patch(name: str) -> str:
    text = (FOLDER / f"{name}.patch").read_text()
    text = text.replace('-NEWEST_MEMBER = "due"', f'-NEWEST_MEMBER = "{NEWEST_MEMBER}"')
    return text.replace('"0071"', f'"{KNOWN_VERSIONS[-1]}"')


@pytest.mark.parametrize(
    ("name", "more", "most"),
    [("field", 0, 5), ("endpoint", 0, 6), ("setting", USES, 3), ("page", CATALOGUES, 8)],
)
def test_few_files_change(name: str, more: int, most: int) -> None:
    assert _patch(name).count("\n+++ ") + more <= most


def test_what_the_recipes_add_works(tmp_path: Path) -> None:
    copy_sources(tmp_path)
    for name in ("field", "endpoint", "setting", "page"):
        subprocess.run(
            ["git", "apply", "-C1", "--include=src/*", "-"],
            input=_patch(name), cwd=tmp_path, text=True, check=True,
        )  # fmt: skip
    outcome = run(tmp_path, ["tests/adding/added.py"])
    assert outcome.is_green, outcome.text
