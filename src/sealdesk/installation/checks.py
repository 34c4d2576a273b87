"""The checks: each looks at one thing, and names what is wrong and what repairs it."""

import asyncio
import os
import resource
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from sealdesk.api_keys import journal
from sealdesk.db import data_owner
from sealdesk.db.migrations import schema_version
from sealdesk.db.schema import introspection
from sealdesk.installation import marking
from sealdesk.installation.store import notes, tenants
from sealdesk.installation.types import (
    DOCUMENTS,
    NOT_NEEDED,
    BackupNote,
    Check,
    DocumentsNote,
    HostCheck,
    Look,
)
from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.mailboxes.types import address_identity
from sealdesk.records.identities import ADDRESSES, IDENTITIES, IdentitiesNote
from sealdesk.telemetry.issues import Issue, Unknown

_S = 1_000_000
_DAY_US = 24 * 3600 * _S
MIN_FREE_BYTES = 256 * 1024 * 1024
_MAX_USED_DESCRIPTORS = 0.8
_MAX_CLOCK_US = 5 * _S
_CERTIFICATE_DAYS = 14
_FAILING_US = 10 * _S
_UNREAD_US = 15 * 60 * _S
_BACKUP_US = 3 * _DAY_US
_STUCK_US = 3600 * _S
_MAX_NAMED = 5
_NO_DIRECTORY = "there is no data directory"
_OF_ALL_TENANTS = "a worker looks at the rows of all tenants, and none has reported"


def data_directory_unwritable(look: Look) -> Issue | Unknown | None:
    """Writes nothing: whether the service may create files."""
    data_dir = look.settings.data_dir
    if not data_dir.is_dir():
        return Unknown("data_directory_unwritable", _NO_DIRECTORY)
    denial = data_owner.explain_denial(data_dir)
    if denial is None:
        return None
    return Issue("data_directory_unwritable", f"{data_dir} cannot be written.", f"{denial}.")


def data_directory_foreign(look: Look) -> Issue | Unknown | None:
    """Whether files beside the database belong to another user."""
    data_dir = look.settings.data_dir
    if not data_dir.is_dir():
        return Unknown("data_directory_foreign", _NO_DIRECTORY)
    owner = data_dir.stat().st_uid
    foreign = [path.name for path in data_dir.iterdir() if path.lstat().st_uid != owner]
    if not foreign:
        return None
    return Issue(
        "data_directory_foreign",
        f"{_named(foreign)} in {data_dir}: not of {data_owner.name_of(owner)}, who owns it.",
        "Run `sealdesk doctor --fix` as root.",
    )


async def data_directory_other(look: Look) -> Issue | Unknown | None:
    """Whether this is the directory that the first host marked: attachments are in one place."""
    settings = look.settings
    if settings.attachment_bucket is not None or not settings.has_worker_process:
        return NOT_NEEDED  # attachments are in a bucket, or all is in one directory
    if not settings.data_dir.is_dir():
        return Unknown("data_directory_other", _NO_DIRECTORY)
    wanted = await marking.find_mark(look.read)
    if wanted is None:
        return Unknown("data_directory_other", "no process has marked its data directory yet")
    if await asyncio.to_thread(marking.read_mark, settings.data_dir) == wanted:
        return None
    return Issue(
        "data_directory_other",
        f"{settings.data_dir} is not the directory that the other hosts use, so attachments are"
        " missing on one of them.",
        "Mount the same directory on all hosts, or store attachments in a bucket"
        " (SEALDESK_ATTACHMENT_BUCKET). If this host's directory is the right one, run"
        " `sealdesk doctor --fix` here.",
    )


def keys_journal_unwritable(look: Look) -> Issue | Unknown | None:
    """Whether a revocation could be noted beside the database."""
    path = look.settings.data_dir / journal.FILE
    if not path.parent.is_dir():
        return Unknown("keys_journal_unwritable", _NO_DIRECTORY)
    try:
        os.close(os.open(path, os.O_APPEND | os.O_WRONLY))
    except FileNotFoundError:
        return None  # the first change of a key creates it
    except OSError as error:
        return Issue(
            "keys_journal_unwritable",
            f"{path} cannot be written: {error.strerror}. After a restore, keys that are revoked"
            " now would be missing in the list of what to revoke.",
            "Run `sealdesk doctor --fix` as root, or move what is at that path away.",
        )
    return None


def disk_almost_full(look: Look) -> Issue | Unknown | None:
    data_dir = look.settings.data_dir
    if not data_dir.is_dir():
        return Unknown("disk_almost_full", _NO_DIRECTORY)
    free = shutil.disk_usage(data_dir).free
    if free >= MIN_FREE_BYTES:
        return None
    return Issue(
        "disk_almost_full",
        f"{free // 1024**2} MiB are free beside {data_dir}: writes will soon fail.",
        f"Free some space: at least {MIN_FREE_BYTES // 1024**2} MiB.",
    )


def descriptors_almost_used(look: Look) -> Issue | Unknown | None:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        used = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError as error:
        return Unknown("descriptors_almost_used", f"/proc cannot be read: {error.strerror}")
    if used < limit * _MAX_USED_DESCRIPTORS:
        return None
    return Issue(
        "descriptors_almost_used",
        f"{used} of {limit} file descriptors are used: connections will soon be refused.",
        "Raise LimitNOFILE= of the systemd unit, or `ulimit -Hn`, and restart.",
    )


async def clock_differs(look: Look) -> Issue | Unknown | None:
    """Compares with the database's server; with one host there is nothing to compare."""
    theirs = await look.read(introspection.find_server_time)
    if theirs is None:
        return NOT_NEEDED
    if abs(theirs - look.now_us) <= _MAX_CLOCK_US:
        return None
    return Issue(
        "clock_differs",
        f"The clock differs by {abs(theirs - look.now_us) / _S:.0f} s from that of the database's"
        " server: signed requests are refused when clocks differ.",
        "Run a time service (chrony, systemd-timesyncd) on both machines.",
    )


def mail_certificate_expires(look: Look) -> Issue | Unknown | None:
    path = look.settings.mail.certificate
    if path is None:
        return NOT_NEEDED
    # 40 ms to import, which few installations need.
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a certificate"
        return Issue(
            "mail_certificate_expires",
            f"The certificate {path} cannot be read: {reason}.",
            "Name a certificate in PEM form with SEALDESK_MAIL_TLS_CERT.",
        )
    left_us = int(certificate.not_valid_after_utc.timestamp()) * _S - look.now_us
    if left_us > _CERTIFICATE_DAYS * _DAY_US:
        return None
    when = f"ends in {left_us // _DAY_US} days" if left_us > 0 else "has ended"
    return Issue(
        "mail_certificate_expires",
        f"The certificate {path} {when}; mail servers then refuse to deliver.",
        "Renew it, replace the file, and restart the process that receives e-mail.",
    )


async def schema_differs(look: Look) -> Issue | Unknown | None:
    found = await look.read(schema_version.read_version)
    wanted = schema_version.KNOWN_VERSIONS[-1]
    if found == wanted:
        return None
    is_newer = found not in schema_version.KNOWN_VERSIONS
    return Issue(
        "schema_differs",
        f"The database has schema {found}, and this process knows {wanted}.",
        "Restart this process with the newer version."
        if is_newer
        else "Run `sealdesk migrate` with the database's owner.",
    )


async def indexes_missing(look: Look) -> Issue | Unknown | None:
    missing = await look.read(introspection.list_missing_indexes)
    if not missing:
        return None
    return Issue(
        "indexes_missing",
        f"The database lacks {len(missing)} indexes, so lists of all tenants become slow:"
        f" {_named(missing)}.",
        "Somebody has dropped them, or a migration was interrupted: create them again as in"
        " sealdesk/db/schema, or restore a backup.",
    )


async def mailboxes_failing(look: Look) -> Issue | Unknown | None:
    if not look.sees_all:
        return Unknown("mailboxes_failing", _OF_ALL_TENANTS)
    before = look.now_us - _UNREAD_US
    found = await look.read(lambda tx: tenants.list_stuck_mailboxes(tx, before, _MAX_NAMED + 1))
    if not found:
        return None
    return Issue(
        "mailboxes_failing",
        f"{_named([row['address'] for row in found])}: mailboxes that cannot be read, cannot send,"
        " or are paused while messages wait.",
        "Their administrators see the cause under Settings, E-mail; if none of them works,"
        " check that this machine reaches mail servers.",
    )


async def mail_sender_missing(look: Look) -> Issue | Unknown | None:
    """Whether the mailbox exists that sends the codes by which desks verify their addresses."""
    address = look.settings.mail.sender
    if not address:
        return NOT_NEEDED
    if look.kind == "worker" and look.settings.has_worker_process:
        return Unknown("mail_sender_missing", "its role cannot read whose an address is")
    identity = address_identity(address)
    if await look.read(lambda tx: directory.find(tx, identity)) is not None:
        return None
    return Issue(
        "mail_sender_missing",
        f"SEALDESK_MAIL_SENDER is {address}, and no desk has this mailbox: no desk gets the codes"
        " by which it verifies an address.",
        "Name the address of a mailbox that sends (`sealdesk mailboxes list`), and restart; or"
        " unset it, and assign domains (`sealdesk domains assign`).",
    )


async def endpoints_failing(look: Look) -> Issue | Unknown | None:
    if not look.sees_all:
        return Unknown("endpoints_failing", _OF_ALL_TENANTS)
    before = look.now_us - _FAILING_US
    found = await look.read(lambda tx: tenants.list_failing_endpoints(tx, before, _MAX_NAMED + 1))
    if not found:
        return None
    named = _named([f"{row['id']} of tenant {row['tenant_id']}" for row in found])
    return Issue(
        "endpoints_failing",
        f"Webhook endpoints do not take their deliveries: {named}.",
        "Their administrators see the responses under Settings, Webhooks; if all of them fail,"
        " check that this machine reaches the internet.",
    )


async def backup_lacks(look: Look) -> Issue | Unknown | None:
    """Whether the last backup is new, and has all attachments."""
    noted = await look.read(lambda tx: notes.find(tx, "backup"))
    if noted is None:
        return Unknown("backup_lacks", "`sealdesk backup` was never run on this database")
    backup = msgspec.json.decode(noted.text, type=BackupNote)
    if backup.lacking_count:
        return Issue(
            "backup_lacks",
            f"The last backup, {backup.file}, lacks {backup.lacking_count} attachments.",
            "`sealdesk backup --check FILE` names them; put the files back, and make another.",
            noted.noted_at,
        )
    age_us = look.now_us - noted.noted_at
    if age_us < _BACKUP_US:
        return None
    return Issue(
        "backup_lacks",
        f"The last backup is {age_us // _DAY_US} days old: {backup.file}.",
        "Run `sealdesk backup FILE` daily, from a timer.",
        noted.noted_at + _BACKUP_US,
    )


async def documents_outdated(look: Look) -> Issue | Unknown | None:
    """Whether the worker has brought the documents of tickets up to this version."""
    noted = await look.read(lambda tx: notes.find(tx, DOCUMENTS))
    if noted is None:
        return Unknown("documents_outdated", "the worker has not looked at the tickets yet")
    if msgspec.json.decode(noted.text, type=DocumentsNote).is_finished:
        return None
    if look.now_us - noted.noted_at < _STUCK_US:
        return Unknown("documents_outdated", "the worker is going through the tickets")
    return Issue(
        "documents_outdated",
        "Tickets of an earlier version are not rewritten: the worker has stopped on the way. They"
        " are served with all members nevertheless.",
        "The worker's log names the cause at `rewrite documents`.",
        noted.noted_at,
    )


async def names_alike(look: Look) -> Issue | Unknown | None:
    """Whether names, addresses and tags have the identities that filters compute."""
    found = [await look.read(partial(notes.find, name=name)) for name in (IDENTITIES, ADDRESSES)]
    reached = [
        (noted.noted_at, msgspec.json.decode(noted.text, type=IdentitiesNote))
        for noted in found
        if noted is not None
    ]
    alike = [each for _, note in reached if note.is_finished for each in note.alike]
    if alike:
        tenant_ids = sorted({each.tenant_id for each in alike})
        return Issue(
            "names_alike",
            f"Names or addresses that were different have become the same, of tenants"
            f" {_named(tenant_ids)}. Both are kept and found.",
            "Their administrators see them under Settings, Tags: rename one of the two, or"
            " merge the customers.",
            max(noted_at for noted_at, _ in reached),
        )
    unfinished = [noted_at for noted_at, note in reached if not note.is_finished]
    if not unfinished and len(reached) == len(found):
        return None
    if look.now_us - min(unfinished, default=look.now_us) < _STUCK_US:
        return Unknown("names_alike", "not all names and addresses have been looked at yet")
    return Issue(
        "names_alike",
        "Names, addresses and tags of an earlier version of Sealdesk or Python are not compared as"
        " this one does, so some are not found: the process that renews them has stopped.",
        "The log of the worker names the cause at `rewrite identities`, or that of `serve` at"
        " `rewrite addresses`.",
        min(unfinished),
    )


# Run in threads: a directory may be on a network that does not answer.
OF_THE_HOST: tuple[HostCheck, ...] = (
    data_directory_unwritable,
    data_directory_foreign,
    keys_journal_unwritable,
    disk_almost_full,
    descriptors_almost_used,
    mail_certificate_expires,
)
OF_THE_DATABASE: tuple[Check, ...] = (
    data_directory_other,
    clock_differs,
    schema_differs,
    indexes_missing,
    mailboxes_failing,
    mail_sender_missing,
    endpoints_failing,
    backup_lacks,
    documents_outdated,
    names_alike,
)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMED])
    return f"{shown} and more" if len(names) > _MAX_NAMED else shown
