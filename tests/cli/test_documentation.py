"""docs/commands.md and `--help` describe the same commands."""

import re
from collections.abc import Iterator
from pathlib import Path

from sealdesk.cli.program import program
from tests.cli.terminal import Terminal
from tests.support.for_each import for_each

DOCS = Path("docs/commands.md").read_text()
SECTIONS = dict(re.findall(r"^### `sealdesk ([\w -]+)`\n(.*?)(?=^##|\Z)", DOCS, re.M | re.S))


def commands(group: object, path: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield every command with its long options."""
    for name, command in getattr(group, "commands", {}).items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")
        if not hasattr(command, "commands") or command.invoke_without_command:
            options = {option for param in command.params for option in param.opts}
            yield f"{path}{name}", {option for option in options if option.startswith("--")}


COMMANDS = dict(commands(program))


def test_the_documentation_lists_exactly_the_commands() -> None:
    assert SECTIONS.keys() == COMMANDS.keys()


@for_each("command", COMMANDS)
def test_the_documentation_lists_exactly_the_options(command: str) -> None:
    assert set(re.findall(r"--[a-z-]+", SECTIONS[command])) == COMMANDS[command] - {"--help"}


def test_help_shows_examples(empty: Terminal) -> None:
    assert "sealdesk tenants create --name Acme" in empty.out("--help")
    assert "--permission tickets:read" in empty.out("keys", "create", "--help")


def test_an_unknown_command_prints_one_line(empty: Terminal) -> None:
    assert "No such command 'sreve'" in empty.refused("sreve", code=2)
