"""Clients of two generators: their types are right, and the programs of the guide work with them.

The document of today makes an older client: a server in front of the service answers as a later
version may (docs/api/README.md, Compatibility).
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.generated_clients.generators import (
    PYTHON_PROGRAM,
    TYPESCRIPT_PROGRAM,
    check_python,
    check_typescript,
    generate_python,
    generate_typescript,
)
from tests.generated_clients.later_version import later_version
from tests.interop import NODE
from tests.support.client import Key, Person
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service

pytestmark = SQLITE_ONLY
_GUIDE = (Path(__file__).parents[2] / "docs" / "api" / "openapi.md").read_text()


class Language(NamedTuple):
    """A generated client, how its types are checked, and the command that runs the program."""

    directory: Path
    check: Callable[[Path], str]
    command: list[str]
    output: str

    def run(self, key: Key, url: str) -> str:
        """What the program prints."""
        env = {
            "PATH": os.environ["PATH"],
            "SEALDESK_API_URL": url,
            "SEALDESK_API_KEY": key.api_key,
            "SEALDESK_API_SECRET": key.api_secret,
        }
        done = subprocess.run(
            self.command,
            cwd=self.directory,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


_PYTHON = """\
created The bowl arrived cracked open
ticket The bowl arrived cracked open {}
ticket An older ticket pending {}
event customer.created
event ticket.created
problem 404 not_found
"""
_TYPESCRIPT = """\
created The bowl arrived cracked open
ticket The bowl arrived cracked open {"batch":"K-12"}
ticket An older ticket pending {}
event customer.created
event ticket.created
problem 422 validation_failed
at /subject
"""


# Generating the Python client takes 8 s of a processor.
@pytest.fixture(params=["typescript", pytest.param("python", marks=pytest.mark.prove)])
def language(request: pytest.FixtureRequest, service: Service) -> Language:
    """The client of the document that the service serves, and the program of the guide."""
    document = Person(service, "").get("/openapi.json").content
    fence = {"python": "python", "typescript": "ts"}[request.param]
    (program,) = re.findall(rf"```{fence}\n(.*?)```", _GUIDE, re.DOTALL)
    if request.param == "python":
        directory = generate_python(document, program)
        return Language(directory, check_python, [sys.executable, PYTHON_PROGRAM], _PYTHON)
    directory = generate_typescript(document, program)
    return Language(directory, check_typescript, [str(NODE), TYPESCRIPT_PROGRAM], _TYPESCRIPT)


@pytest.mark.prove  # 15 s of a processor; the other tests run the same programs
def test_the_types_of_a_generated_client_are_right(language: Language) -> None:
    assert language.check(language.directory) == ""


def test_a_generated_client_creates_lists_and_follows_the_feed(
    language: Language, key: Key
) -> None:
    key.ticket(subject="An older ticket", status="pending")
    assert language.run(key, key.service.url) == language.output


def test_an_older_client_survives_what_a_later_version_adds(language: Language, key: Key) -> None:
    key.ticket(subject="An older ticket", status="pending")
    with later_version(key.service.url) as url:
        said = language.run(key, url)
    ticket, *rest = (line for line in said.splitlines() if not line.startswith("event customer"))
    assert ticket == "created The bowl arrived cracked waiting_for_supplier"
    assert [line.split()[0] for line in rest[:2]] == ["ticket", "ticket"]
    assert "a later version" in rest[0]  # a member that the client does not know
    assert rest[2] == "event ticket.teleported"
    assert re.fullmatch("problem 4(04|22) out_of_glaze", rest[3])
