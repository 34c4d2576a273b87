"""Rules of CONTRIBUTING that no linter checks."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import sealdesk

SOURCE = Path(sealdesk.__file__).parents[1]
FILES = {path.relative_to(SOURCE): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
NAMELESS = {"utils", "util", "helpers", "common", "core", "base", "misc", "manager", "service"}
SQL_FOLDERS = (
    "sealdesk/db/",
    "sealdesk/event_log/",
    "sealdesk/records/",
    "sealdesk_citus/",
    "sealdesk_move/",
)
SQL = ("SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH ")
WALL_CLOCKS = ("time.time(", "time.time_ns(", "datetime.now(", "datetime.utcnow(")


def _nodes(words: tuple[str, ...]) -> Iterator[tuple[Path, ast.AST]]:
    """The nodes of the files with any of these words: to parse all takes three seconds."""
    for path, text in FILES.items():
        for node in ast.walk(ast.parse(text)) if any(word in text for word in words) else ():
            yield path, node


def test_module_names_are_not_generic() -> None:
    assert [path for path in FILES if not NAMELESS.isdisjoint(path.with_suffix("").parts)] == []


def test_modules_have_a_docstring_of_one_sentence() -> None:
    first = {path: _first_paragraph(text) for path, text in FILES.items() if text}
    assert [path for path, words in first.items() if not words.rstrip().endswith((".", "?"))] == []


def _first_paragraph(text: str) -> str:
    """Of the docstring of a module."""
    found = re.match(r'(?:#.*\n)*"""(.*?)(?:"""|\n\n)', text, re.DOTALL)
    return found[1] if found else ""


def test_sql_stands_where_sql_belongs() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, node in _nodes(SQL)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.lstrip().startswith(SQL)
        and not str(path).startswith(SQL_FOLDERS)
        and "store" not in path.with_suffix("").parts
    ]
    assert found == []


def test_only_the_clock_module_reads_the_time() -> None:
    # Commands are the other side: `call` signs with the time of its own machine.
    found = [
        f"{path}:{node.lineno}"
        for path, node in _nodes(WALL_CLOCKS)
        if isinstance(node, ast.Call)
        and ast.unparse(node).startswith(WALL_CLOCKS)
        and path.name != "clock.py"
        and not str(path).startswith(("sealdesk/cli/", "sealdesk/client/"))
    ]
    assert found == []
