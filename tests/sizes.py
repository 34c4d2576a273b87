"""Lists files and functions that are longer than readers like: `make test` prints it as a warning.

A length is a reason to look, not a fault: a file is cut where there is a joint, or not at all.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40


def long_parts() -> Iterator[tuple[str, int]]:
    """The place and the number of lines of each long file and function."""
    for path in sorted(SOURCE.rglob("*.py")):
        text, name = path.read_text(), path.relative_to(SOURCE)
        if text.count("\n") > MAX_FILE_LINES:
            yield str(name), text.count("\n")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{name}:{node.lineno} {node.name}", lines


if __name__ == "__main__":
    sys.stdout.writelines(f"warning: {lines:4} lines: {place}\n" for place, lines in long_parts())
