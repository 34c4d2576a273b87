"""The issues that `serve` finds in itself, found by a command."""

import asyncio
from collections.abc import Iterator

from sealdesk.cli.doctor.finding import Finding
from sealdesk.clock import Clock
from sealdesk.db.factory import opened_database
from sealdesk.errors import ServiceUnavailable
from sealdesk.installation import marking
from sealdesk.installation.attachments import AttachmentWalk
from sealdesk.installation.types import Kind, Look
from sealdesk.installation.watch import look_at_all
from sealdesk.settings import Settings
from sealdesk.telemetry.issues import Findings, Issue

# The doctor has findings of its own about these.
_OWN = {"data_directory_foreign", "disk_almost_full"}


def check(settings: Settings, *, is_deep: bool, fix: bool) -> Iterator[Finding]:
    """Each issue, and what was not looked at.

    is_deep: compare all attachments with their rows. fix: make this host's data directory the one
    that all share.
    """
    if fix and settings.has_worker_process and settings.data_dir.is_dir():
        asyncio.run(_mark(settings))
    findings, attachments = asyncio.run(_look(settings, is_deep=is_deep))
    issues = [issue for issue in findings.issues if issue.code not in _OWN]
    if attachments is not None and attachments.code not in {issue.code for issue in issues}:
        issues.append(attachments)
    for issue in issues:
        yield Finding("bad", issue.code, f"{issue.what}\n{issue.do}")
    for unknown in findings.unknown:
        yield Finding("note", unknown.code, f"not looked at: {unknown.why}")
    well = len(findings.looked_at) - len(findings.issues)
    depth = "all attachments" if is_deep else "some attachments; --deep looks at all of them"
    yield Finding("good", "checks", f"{well} found nothing wrong, of {depth}")


async def _mark(settings: Settings) -> None:
    async with opened_database(settings, name="sealdesk doctor") as database:
        if await marking.find_mark(database.read) != marking.read_mark(settings.data_dir):
            now_us = Clock().now_us()
            await marking.mark(database, settings.data_dir, now_us, is_forced=True)


async def _look(settings: Settings, *, is_deep: bool) -> tuple[Findings, Issue | None]:
    url = settings.worker_database_url  # its role reads the rows of all tenants
    walk = AttachmentWalk()
    kind: Kind = "worker" if url else "command"
    async with opened_database(settings, name="sealdesk doctor", url=url) as database:
        look = Look(kind, settings, database.read, Clock().now_us())
        findings = await look_at_all(look, walk)
        try:
            attachments = await walk.look_at_each(look) if is_deep else None
        except ServiceUnavailable:
            attachments = None
    return findings, attachments if isinstance(attachments, Issue) else None
