"""The programs and commands on the page of a new key work as they are pasted, in each language."""

import html
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk.web.snippets import SNIPPETS, Snippet
from tests.snippets.programs import environment_of
from tests.support.databases import on_sqlite
from tests.support.pages import logged_in

NEW = "/settings/api-keys/new"
_FEW = ("curl", "python", "node")
_BLOCK = re.compile(r'<pre id="([a-z-]+)"[^>]*>(.*?)</pre>', re.DOTALL)


@pytest.fixture(scope="module")
def blocks(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The texts that can be copied from the page of a new key, by their ids."""
    with on_sqlite(template)(tmp_path_factory.mktemp("data")) as service:
        visitor = logged_in(service.tenant())
        page = visitor.submit(visitor.get(NEW).form(NEW), name="Pasted")
        yield {name: html.unescape(text) for name, text in _BLOCK.findall(page.answer.text)}


def test_each_language_has_a_program_and_a_command(blocks: dict[str, str]) -> None:
    others = {each.name for each in SNIPPETS[1:]}
    assert {name.partition("-")[2] for name in blocks if name.startswith("program-")} == others
    assert {name.partition("-")[2] for name in blocks if name.startswith("run-")} == others


@pytest.mark.parametrize(
    "snippet",
    [
        # In the other languages, of which some compile, test_snippets runs the same programs.
        pytest.param(each, id=each.name, marks=() if each.name in _FEW else pytest.mark.prove)
        for each in SNIPPETS
    ],
)
def test_what_is_pasted_works(snippet: Snippet, blocks: dict[str, str], tmp_path: Path) -> None:
    command = blocks["curl"]
    if snippet.name != "curl":
        (tmp_path / snippet.file).write_text(blocks[f"program-{snippet.name}"])
        command = blocks[f"run-{snippet.name}"]
    done = subprocess.run(
        ["sh"],
        input=command,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "LANG": "C.UTF-8", **environment_of(snippet, os.environ)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert '"name":"Pasted"' in done.stdout.replace(": ", ":"), done.stdout + done.stderr
