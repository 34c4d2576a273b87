"""`sealdesk webhooks`: forwards events to a local program and verifies captured webhooks."""

import typer

from sealdesk.cli.webhooks import listen, verify

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Receive events on your machine, and verify webhooks.",
)
cli.command(epilog=listen.EXAMPLES)(listen.listen)
cli.command(epilog=verify.EXAMPLES)(verify.verify)
