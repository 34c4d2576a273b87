"""Groups of commands, such as `sealdesk keys`."""

import typer


def command_group(about: str) -> typer.Typer:
    """A group that shows its help when no command is named."""
    return typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=about)
