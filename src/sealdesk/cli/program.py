"""The program: its help, how it is run, and its errors."""

import os
import sqlite3
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import typer

from sealdesk import build
from sealdesk.cli.commands import Commands, is_server_installed
from sealdesk.cli.integration import CREDENTIALS
from sealdesk.errors import ApiError, ConfigurationError

INTERRUPTED = 130  # the exit code that shells report for a program ended by SIGINT: 128 + 2

_WITH_SERVER = is_server_installed()
_SERVICE_STEPS = """\b
First steps:
  sealdesk demo                    create an example tenant in a new installation
  sealdesk serve                   serve http://127.0.0.1:8000, with the API docs at /docs
  sealdesk doctor                  check the installation

\b
Your own tenant:
  sealdesk tenants create --name Acme --admin-email ada@acme.test
  sealdesk keys create --tenant ID --name "Shop"

"""
_SETTINGS = """

Settings are read from SEALDESK_* variables. The data directory is ./var, or SEALDESK_DATA_DIR.
Every command except `move` and `restore` may run while the server is running."""
_WITHOUT_SERVER = """

These are the commands for integrators. The commands that run the service need more packages:
pipx install 'sealdesk[server]'"""
_API_STEPS = f"""\b
With an API key:
  sealdesk call GET /api/v1/external/whoami
  sealdesk tickets list --status open
  sealdesk tickets export tickets.ndjson

{CREDENTIALS}"""

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Sealdesk: a multi-tenant ticketing service with signed API requests.",
    epilog=_SERVICE_STEPS + _API_STEPS + _SETTINGS
    if _WITH_SERVER
    else _API_STEPS + _WITHOUT_SERVER,
)
if _WITH_SERVER:
    from sealdesk.db import data_owner
    from sealdesk.settings import data_dir_of


@cli.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        print(build.describe())
        raise typer.Exit


program = typer.main.get_group(cli)
program.commands = Commands()  # type: ignore[assignment] # nothing adds commands to it


def main() -> int:
    """Run the command that sys.argv names and return its exit code."""
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr] # both are TextIOWrapper
    if not all(map(_is_utf8, sys.argv)):
        return _print_error("an argument is not UTF-8; write it in the encoding UTF-8")
    try:
        with _made_for_owner():
            return program(prog_name="sealdesk", standalone_mode=False) or 0
    except typer.TyperException as error:
        return _report_usage_error(error)
    except (KeyboardInterrupt, typer.Abort):
        return _print_error("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader, such as `head`, closed the pipe. Without this, Python fails again when it
        # flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        return _print_error(_describe_error(error))


def _made_for_owner() -> AbstractContextManager[None]:
    """Lets the service write what a command of root makes in the data directory."""
    if _WITH_SERVER:
        with suppress(RuntimeError):  # no such home, which the command reports
            return data_owner.made_for_owner(data_dir_of(os.environ))
    return nullcontext()


def _is_utf8(argument: str) -> bool:
    """Whether an argument could be decoded: Python keeps other bytes as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _report_usage_error(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    if context is None:
        return _print_error(error.format_message(), 2)
    if not context.args and type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return 2
    message = error.format_message().rstrip(".?")
    return _print_error(f"{message}; see {context.command_path} --help", 2)


def _describe_error(error: Exception) -> str:
    # With its HTTP library 100 ms to import, which only the commands for integrators need.
    from sealdesk.client import SealdeskError

    match error:
        case ConfigurationError() | SealdeskError():
            return str(error)
        case ApiError():
            return _describe_api_error(error)
        case sqlite3.Error():
            return f"the database cannot be used: {error}"
        case PermissionError(filename=str(name), strerror=str(reason)):
            return _explain_denial(name) or f"{name}: {reason}"
        case OSError(filename=str(name), strerror=str(reason)):
            return f"{name}: {reason}"
        case OSError():
            return str(error.strerror or error)
    return f"this is a bug in Sealdesk, please report it: {error!r}"


def _explain_denial(name: str) -> str | None:
    if _WITH_SERVER:
        with suppress(OSError):
            return data_owner.explain_denial(Path(name))
    return None


def _describe_api_error(error: ApiError) -> str:
    field_errors = error.members.get("errors", ())
    messages = [f"{field['pointer'].strip('/')}: {field['message']}" for field in field_errors]
    return " ".join(messages) or error.detail


def _print_error(text: str, exit_code: int = 1) -> int:
    print(f"sealdesk: {' '.join(text.split())}", file=sys.stderr)
    return exit_code
