"""One result of a check of `sealdesk doctor`, and how results are printed."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import typer

from sealdesk.cli.output import make_console, print_json

State = Literal["good", "note", "bad"]
_MARKS = {"good": "[green]✓[/]", "note": "[yellow]![/]", "bad": "[red]✗[/]"}


class Finding(NamedTuple):
    """The result of one check. state: "note" is worth knowing but needs no action."""

    state: State
    about: str
    text: str


def report(found: Iterable[Finding], *, json: bool, width: int) -> None:
    """Print each finding as it comes, its text behind so many characters, or all as JSON.

    Raises Exit if one is bad.
    """
    findings: list[Finding] = []
    screen = make_console()
    for finding in found:
        findings.append(finding)
        if not json:
            screen.print(f"{_MARKS[finding.state]} [bold]{finding.about:<{width}}[/] ", end="")
            screen.print(finding.text.replace("\n", f"\n{' ' * (width + 3)}"), markup=False)
    if json:
        print_json([finding._asdict() for finding in findings])
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)
