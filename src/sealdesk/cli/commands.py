"""The commands of the program, a row each.

A command is imported when it is run, or when --help describes it: importing all of them takes
twice as long as most commands need for their work, and 20 MiB that a server would keep.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import typer

from sealdesk.errors import ConfigurationError


class Row(NamedTuple):
    """Where a command stands.

    member: a function of the module, or its group of commands. examples: the name of the text of
    the module that --help of a function ends with.
    """

    module: str
    member: str = "cli"
    examples: str = ""


OF_SERVICE = {
    "serve": Row("sealdesk.cli.serving", "serve"),
    "worker": Row("sealdesk.cli.serving", "worker"),
    "demo": Row("sealdesk_demo.command", "demo"),
    "migrate": Row("sealdesk.cli.migrate", "migrate"),
    "upgrade": Row("sealdesk.cli.upgrade.command", "upgrade", "EXAMPLES"),
    "move": Row("sealdesk_move.command", "move", "EXAMPLES"),
    "backup": Row("sealdesk.cli.backup.backup", "backup", "EXAMPLES"),
    "restore": Row("sealdesk.cli.backup.restore", "restore", "EXAMPLES"),
    "doctor": Row("sealdesk.cli.doctor.command", "doctor"),
    "attachments": Row("sealdesk.cli.attachments"),
    "mail": Row("sealdesk.cli.mail"),
    "tenants": Row("sealdesk.cli.tenants"),
    "users": Row("sealdesk.cli.users"),
    "keys": Row("sealdesk.cli.keys"),
    "rules": Row("sealdesk.cli.rule_commands"),
    "mailboxes": Row("sealdesk.cli.mailboxes"),
    "domains": Row("sealdesk.cli.domains"),
    "reports": Row("sealdesk.cli.reports"),
    "nodes": Row("sealdesk_citus.command"),
}
OF_INTEGRATORS = {
    "call": Row("sealdesk.cli.integration.signed_requests", "call", "EXAMPLES"),
    "sign": Row("sealdesk.cli.integration.signed_requests", "sign", "SIGN_EXAMPLES"),
    "tickets": Row("sealdesk.cli.integration.tickets"),
    "customers": Row("sealdesk.cli.integration.customers"),
    "replies": Row("sealdesk.cli.integration.replies"),
    "webhooks": Row("sealdesk.cli.webhooks"),
    "mcp": Row("sealdesk_mcp.command", "mcp", "EXAMPLES"),
}
_ROWS = OF_SERVICE | OF_INTEGRATORS
# One package of each kind of the extra `server`: it is installed whole, or not at all.
_SERVER_PACKAGES = ("sqlalchemy", "uvicorn", "cryptography", "jinja2")


def is_server_installed() -> bool:
    """Whether the packages of the extra `server` are installed."""
    return all(find_spec(name) for name in _SERVER_PACKAGES)


class Commands(Mapping[str, Any]):
    """The commands by name, in the order of --help; one is imported when it is looked up.

    Without the packages of the server its commands are not listed, and say what to install.
    """

    def __init__(self) -> None:
        self._has_server = is_server_installed()

    def __getitem__(self, name: str) -> Any:
        if name in OF_SERVICE and not self._has_server:
            takes_all = {"allow_extra_args": True, "ignore_unknown_options": True}
            return _command(_refuse, hidden=True, context_settings=takes_all, add_help_option=False)
        row = _ROWS[name]
        module = import_module(row.module)
        member = getattr(module, row.member)
        if isinstance(member, typer.Typer):
            return typer.main.get_group(member)
        return _command(member, epilog=getattr(module, row.examples, None))

    def __iter__(self) -> Iterator[str]:
        return iter(_ROWS)

    def __len__(self) -> int:
        return len(_ROWS)


def _command(function: Callable[..., None], **settings: Any) -> Any:
    program = typer.Typer(add_completion=False, rich_markup_mode=None)
    program.command(**settings)(function)
    return typer.main.get_command(program)


def _refuse(context: typer.Context) -> None:
    raise ConfigurationError(
        f"`sealdesk {context.info_name}` runs the service, whose packages are not installed here:"
        " install them with pipx install 'sealdesk[server]', or pip install 'sealdesk[server]'"
    )
