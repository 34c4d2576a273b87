"""The issues that `serve` finds in itself, found by a command."""

import asyncio
from collections.abc import Iterator

from sealdesk.cli.doctor.finding import Finding
from sealdesk.clock import Clock
from sealdesk.db.factory import opened_database
from sealdesk.installation import marking
from sealdesk.installation.attachments import ATTACHMENTS, AttachmentWalk
from sealdesk.installation.store import notes
from sealdesk.installation.types import Kind, Look
from sealdesk.installation.watch import look_at_all, look_at_processes
from sealdesk.settings import Settings
from sealdesk.telemetry.issues import Findings, Unknown, merge

# The doctor has findings of its own about these.
_OWN = {"data_directory_foreign", "disk_almost_full", "worker_missing"}
_PROCESSES = "processes"


def check(settings: Settings, *, is_deep: bool, fix: bool) -> Iterator[Finding]:
    """Each issue, and what was not looked at.

    is_deep: compare all attachments with their rows. fix: make this host's data directory the one
    that all share.
    """
    if fix and settings.has_worker_process and settings.data_dir.is_dir():
        asyncio.run(_mark(settings))
    findings = asyncio.run(_look(settings, is_deep=is_deep))
    for issue in findings.issues:
        if issue.code not in _OWN:
            yield Finding("bad", issue.code, f"{issue.what}\n{issue.do}")
    for unknown in findings.unknown:
        yield Finding("note", unknown.code, f"not looked at: {unknown.why}")
    well = len(findings.looked_at) - len(findings.issues)
    yield Finding(
        "good", "checks", f"{well} found nothing wrong{_describe_depth(findings, is_deep)}"
    )


def _describe_depth(findings: Findings, is_deep: bool) -> str:
    if ATTACHMENTS not in findings.looked_at:
        return "; no attachment was looked at"
    return ", of all attachments" if is_deep else ", of some attachments; --deep looks at all"


async def _mark(settings: Settings) -> None:
    async with opened_database(settings, name="sealdesk doctor") as database:
        if await marking.find_mark(database.read) != marking.read_mark(settings.data_dir):
            now_us = Clock().now_us()
            await marking.mark(database, settings.data_dir, now_us, is_forced=True)


async def _look(settings: Settings, *, is_deep: bool) -> Findings:
    url = settings.worker_database_url  # its role reads the rows of all tenants
    walk = AttachmentWalk(reads_each=is_deep)
    kind: Kind = "worker" if url else "command"
    async with opened_database(settings, name="sealdesk doctor", url=url) as database:
        look = Look(kind, settings, database.read, Clock().now_us())
        found = [await look_at_all(look, walk)]
    if settings.has_worker_process:
        found.append(await _look_at_processes(settings))
    return merge(found)


async def _look_at_processes(settings: Settings) -> Findings:
    async with opened_database(settings, name="sealdesk doctor") as database:
        signs = await database.read(notes.list_processes)
        needs_mail = await database.read(notes.has_receiving_mailbox)
    if not signs:
        return Findings(unknown=(Unknown(_PROCESSES, "none has reported: none runs"),))
    return look_at_processes(signs, Clock().now_us(), needs_mail=needs_mail)
