"""`sealdesk webhooks`: receive events on one's own machine, check what was received."""

import typer

from sealdesk.cli.webhooks import listen, verify

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Receive events on your own machine, and check webhooks that you received.",
)
cli.command(epilog=listen.EXAMPLES)(listen.listen)
cli.command(epilog=verify.EXAMPLES)(verify.verify)
