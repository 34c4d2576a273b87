"""The `sealdesk` command; the only reader of the environment."""

import os
import sqlite3
import sys

import typer

from sealdesk import __version__
from sealdesk.cli import installation, keys, move, requests, serving, tenants, users, webhooks
from sealdesk.cli.demo import command as demo
from sealdesk.cli.doctor import command as doctor
from sealdesk.errors import ApiError, ConfigurationError

INTERRUPTED = 130  # as a shell says it of a program that SIGINT ended

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Sealdesk: a multi-tenant ticketing service whose API requests are signed.",
    epilog="""\b
First steps:
  sealdesk demo                    fill a new installation with an example
  sealdesk serve                   serve it at http://127.0.0.1:8000, docs at /docs
  sealdesk doctor                  see whether everything is as it should be

\b
Your own tenant:
  sealdesk tenants create --name Acme --admin-email ada@acme.test
  sealdesk keys create --tenant ID --name "Shop"

Settings come from SEALDESK_* variables; the data lies in ./var, or in SEALDESK_DATA_DIR.
Every command works while the server runs.""",
)
cli.command()(serving.serve)
cli.command()(serving.worker)
cli.command()(demo.demo)
cli.command()(installation.migrate)
cli.command(epilog=move.EXAMPLES)(move.move)
cli.add_typer(tenants.cli, name="tenants")
cli.add_typer(users.cli, name="users")
cli.add_typer(keys.cli, name="keys")
cli.command(epilog=requests.EXAMPLES)(requests.call)
cli.command(epilog=requests.SIGN_EXAMPLES)(requests.sign)
cli.add_typer(webhooks.cli, name="webhooks")
cli.command()(doctor.doctor)


@cli.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main() -> int:
    """Run the command that the arguments name; its exit code."""
    os.umask(0o077)
    # Both are text files, which have it; their declared type does not.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return cli(prog_name="sealdesk", standalone_mode=False) or 0
    except typer.TyperException as error:
        return _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; Python must not complain at its end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        return told(error)


def told(error: Exception) -> int:
    """Say on stderr, in one line, what went wrong; the exit code."""
    return _fail(_explained(error))


def _usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    if context is None:
        return _fail(error.format_message(), 2)
    if not context.args and type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return 2
    what = error.format_message().rstrip(".?")
    return _fail(f"{what}; see {context.command_path} --help", 2)


def _explained(error: Exception) -> str:
    """What went wrong, for somebody who does not read tracebacks."""
    match error:
        case ConfigurationError():
            return str(error)
        case ApiError():
            return _refusal(error)
        case sqlite3.Error():
            return f"the database cannot be used: {error}"
        case OSError(filename=str(name), strerror=str(words)):
            return f"{name}: {words}"
        case OSError():
            return str(error.strerror or error)
    return f"this is a fault in Sealdesk, please report it: {error!r}"


def _refusal(refusal: ApiError) -> str:
    faults = refusal.members.get("errors", ())
    return " ".join(f"{f['pointer'].strip('/')}: {f['message']}" for f in faults) or refusal.detail


def _fail(text: str, exit_code: int = 1) -> int:
    print(f"sealdesk: {' '.join(text.split())}", file=sys.stderr)
    return exit_code
