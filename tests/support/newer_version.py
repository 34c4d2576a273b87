"""A later version of Sealdesk: this one with more migrations."""

import os
import shutil
from pathlib import Path

import sealdesk
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS

_STEP = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "{schema}", "{last}", None, None

def upgrade():
    {change}
"""
COLOUR = 'op.add_column("tenants", sa.Column("colour", sa.Text))'


def newer_sealdesk(directory: Path, *changes: str, oldest_reader: str = "") -> dict[str, str]:
    """The variable for a version that makes each of these changes in a migration of its own.

    They have the schemas …, 9998, 9999. Without any, it gives tenants a colour. oldest_reader: the
    oldest schema whose version can use the last of them.
    """
    sources = directory / "newer"
    shutil.copytree(Path(sealdesk.__file__).parents[1], sources, copy_function=os.symlink)
    last = KNOWN_VERSIONS[-1]
    for number, change in enumerate(changes or (COLOUR,), 10_000 - len(changes or (COLOUR,))):
        step = sources / "sealdesk" / "db" / "migrations" / "versions" / f"{number}_next.py"
        step.write_text(_STEP.format(schema=number, last=last, change=change))
        last = str(number)
    if oldest_reader:
        step.write_text(f'{step.read_text()}\noldest_reader = "{oldest_reader}"\n')
    return {"PYTHONPATH": str(sources)}
