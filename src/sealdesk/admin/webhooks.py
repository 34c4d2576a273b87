"""`sealdesk webhooks`: receive events on one's own machine, check what was received."""

import typer

from sealdesk.admin import webhooks_listen, webhooks_verify

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Receive events on your own machine, and check webhooks that you received.",
)
cli.command(epilog=webhooks_listen.EXAMPLES)(webhooks_listen.listen)
cli.command(epilog=webhooks_verify.EXAMPLES)(webhooks_verify.verify)
