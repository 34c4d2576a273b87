"""Of which commit this program is, and how its Python was built."""

import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

from sealdesk import __version__

UNKNOWN = "unknown"
_PACKAGE = Path(__file__).parent
# install.sh and the build of the wheel write it.
_RECORDED = _PACKAGE / "commit"
_CHECKOUT = _PACKAGE.parents[1]
_GIT_S = 2.0


@cache
def commit() -> str:
    """The commit that was installed, or that is checked out; `unknown` without either."""
    try:
        return _RECORDED.read_text("ascii").strip() or UNKNOWN
    except (OSError, ValueError):
        return _checked_out()


def describe() -> str:
    """The version and the commit, for people."""
    return f"{__version__} (commit {commit()})"


def is_python_optimised() -> bool:
    """Whether Python was compiled by what a profile had shown: a tenth less work for a request.

    Distributions do so, and leave it out of the options.
    """
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    return sys.base_prefix == "/usr" or "--enable-optimizations" in options


def _checked_out() -> str:
    git = shutil.which("git")
    if git is None or not (_CHECKOUT / ".git").exists():
        return UNKNOWN
    try:
        done = subprocess.run(
            [git, "-C", str(_CHECKOUT), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=_GIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return done.stdout.strip()
