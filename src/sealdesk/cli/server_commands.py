"""The commands that need the packages of the extra `server`."""

import typer

from sealdesk.cli import (
    attachments,
    domains,
    keys,
    mail,
    mailboxes,
    migrate,
    reports,
    rule_commands,
    serving,
    tenants,
    users,
)
from sealdesk.cli.backup import backup, restore
from sealdesk.cli.doctor import command as doctor
from sealdesk.cli.upgrade import command as upgrade
from sealdesk_citus import command as nodes
from sealdesk_demo import command as demo
from sealdesk_move import command as move


def add_to(cli: typer.Typer) -> None:
    """Add the commands to the program."""
    cli.command()(serving.serve)
    cli.command()(serving.worker)
    cli.command()(demo.demo)
    cli.command()(migrate.migrate)
    cli.command(epilog=upgrade.EXAMPLES)(upgrade.upgrade)
    cli.command(epilog=move.EXAMPLES)(move.move)
    cli.command(epilog=backup.EXAMPLES)(backup.backup)
    cli.command(epilog=restore.EXAMPLES)(restore.restore)
    cli.add_typer(attachments.cli, name="attachments")
    cli.add_typer(mail.cli, name="mail")
    cli.add_typer(tenants.cli, name="tenants")
    cli.add_typer(users.cli, name="users")
    cli.add_typer(keys.cli, name="keys")
    cli.add_typer(rule_commands.cli, name="rules")
    cli.add_typer(mailboxes.cli, name="mailboxes")
    cli.add_typer(domains.cli, name="domains")
    cli.add_typer(reports.cli, name="reports")
    cli.add_typer(nodes.cli, name="nodes")
    cli.command()(doctor.doctor)
