"""Builds the documentation of /docs for the wheel and the source distribution."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Documentation(BuildHookInterface):  # type: ignore[type-arg]
    """Runs docs_builder. A source distribution has no docs_builder: it contains the result."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what has changed; a fault in the documentation fails the build."""
        root = Path(self.root)
        if version != "editable" and (root / "docs_builder").exists():
            subprocess.run(
                [sys.executable, "-m", "docs_builder", "--if-changed"],
                cwd=root,
                env={**os.environ, "PYTHONPATH": "src"},
                check=True,
            )
