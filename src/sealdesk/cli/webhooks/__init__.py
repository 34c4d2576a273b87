"""`sealdesk webhooks`: forwards events to a local program and verifies captured webhooks."""

from sealdesk.cli.command_group import command_group
from sealdesk.cli.webhooks import listen, verify

cli = command_group("Receive events on your machine, and verify webhooks.")
cli.command(epilog=listen.EXAMPLES)(listen.listen)
cli.command(epilog=verify.EXAMPLES)(verify.verify)
