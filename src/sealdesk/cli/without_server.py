"""The commands of the service where its packages are not installed: each says what to install."""

from importlib.util import find_spec

import typer

from sealdesk.errors import ConfigurationError

# One package of each kind of the extra `server`: it is installed whole, or not at all.
_NEEDED = ("sqlalchemy", "uvicorn", "cryptography", "jinja2")
NAMES = """
    serve worker demo migrate upgrade move backup restore attachments mail tenants
    users keys mailboxes domains doctor nodes rules reports
""".split()


def is_server_installed() -> bool:
    """Whether the packages of the extra `server` are installed."""
    return all(find_spec(name) for name in _NEEDED)


def add_to(cli: typer.Typer) -> None:
    """Add the commands, which take any arguments and are not listed by --help."""
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    for name in NAMES:
        cli.command(name, hidden=True, context_settings=settings, add_help_option=False)(_refuse)


def _refuse(context: typer.Context) -> None:
    raise ConfigurationError(
        f"`sealdesk {context.info_name}` runs the service, whose packages are not installed here:"
        " install them with pipx install 'sealdesk[server]', or pip install 'sealdesk[server]'"
    )
