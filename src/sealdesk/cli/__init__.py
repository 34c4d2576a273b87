"""The `sealdesk` command. No other package reads the environment."""

import os
import sqlite3
import sys

import typer

from sealdesk import __version__
from sealdesk.cli import (
    attachments,
    documents,
    keys,
    migrate,
    requests,
    serving,
    tenants,
    users,
    webhooks,
)
from sealdesk.cli.backup import backup, restore
from sealdesk.cli.demo import command as demo
from sealdesk.cli.doctor import command as doctor
from sealdesk.cli.move import command as move
from sealdesk.errors import ApiError, ConfigurationError

INTERRUPTED = 130  # the exit code that shells report for a program ended by SIGINT: 128 + 2

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Sealdesk: a multi-tenant ticketing service with signed API requests.",
    epilog="""\b
First steps:
  sealdesk demo                    create an example tenant in a new installation
  sealdesk serve                   serve http://127.0.0.1:8000, with the API docs at /docs
  sealdesk doctor                  check the installation

\b
Your own tenant:
  sealdesk tenants create --name Acme --admin-email ada@acme.test
  sealdesk keys create --tenant ID --name "Shop"

Settings are read from SEALDESK_* variables. The data directory is ./var, or SEALDESK_DATA_DIR.
Every command except `move` and `restore` may run while the server is running.""",
)
cli.command()(serving.serve)
cli.command()(serving.worker)
cli.command()(demo.demo)
cli.command()(migrate.migrate)
cli.command()(documents.rewrite_documents)
cli.command(epilog=move.EXAMPLES)(move.move)
cli.command(epilog=backup.EXAMPLES)(backup.backup)
cli.command(epilog=restore.EXAMPLES)(restore.restore)
cli.add_typer(attachments.cli, name="attachments")
cli.add_typer(tenants.cli, name="tenants")
cli.add_typer(users.cli, name="users")
cli.add_typer(keys.cli, name="keys")
cli.command(epilog=requests.EXAMPLES)(requests.call)
cli.command(epilog=requests.SIGN_EXAMPLES)(requests.sign)
cli.add_typer(webhooks.cli, name="webhooks")
cli.command()(doctor.doctor)


@cli.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main() -> int:
    """Run the command that sys.argv names and return its exit code."""
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr] # both are TextIOWrapper
    try:
        return cli(prog_name="sealdesk", standalone_mode=False) or 0
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
        return report_error(error)


def report_error(error: Exception) -> int:
    """Print the error on stderr in one line and return the exit code."""
    return _print_error(_describe_error(error))


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
    match error:
        case ConfigurationError():
            return str(error)
        case ApiError():
            return _describe_api_error(error)
        case sqlite3.Error():
            return f"the database cannot be used: {error}"
        case OSError(filename=str(name), strerror=str(reason)):
            return f"{name}: {reason}"
        case OSError():
            return str(error.strerror or error)
    return f"this is a bug in Sealdesk, please report it: {error!r}"


def _describe_api_error(error: ApiError) -> str:
    field_errors = error.members.get("errors", ())
    messages = [f"{field['pointer'].strip('/')}: {field['message']}" for field in field_errors]
    return " ".join(messages) or error.detail


def _print_error(text: str, exit_code: int = 1) -> int:
    print(f"sealdesk: {' '.join(text.split())}", file=sys.stderr)
    return exit_code
