"""The processes of an installation: each notes that it lives, and others notice when it stops."""

from collections.abc import Mapping

import msgspec

from sealdesk.installation.store.notes import Note
from sealdesk.installation.types import ProcessNote
from sealdesk.telemetry.issues import Issue

LOOK_EVERY_S = 5.0
SILENT_US = 20 * 1_000_000
# A process that was killed is an issue so long; one that is stopped takes its note away.
KEPT_US = 24 * 3600 * 1_000_000

decode = msgspec.json.Decoder(ProcessNote).decode


def living(notes: Mapping[str, Note], now_us: int) -> list[ProcessNote]:
    """The processes that have given a sign of life lately."""
    return [decode(note.text) for note in notes.values() if _is_new(note, now_us)]


def find_silent(notes: Mapping[str, Note], now_us: int) -> Issue | None:
    """Processes that were not stopped and give no sign of life."""
    silent = [note for note in notes.values() if not _is_new(note, now_us)]
    if not silent:
        return None
    dead = [decode(note.text) for note in silent]
    named = ", ".join(f"{each.kind} on {each.host} (process {each.pid})" for each in dead[:5])
    return Issue(
        "process_silent",
        f"No sign of life, though nobody stopped it: {named}.",
        "Look at its log and restart it. If it will not come back, this ends by itself after a"
        " day.",
        min(note.noted_at for note in silent),
    )


def find_missing(
    alive: list[ProcessNote], kind: str, needed_for: str, since: int | None
) -> Issue | None:
    """A kind of process that is needed and of which none runs. since: the last sign of one."""
    if any(process.kind == kind for process in alive):
        return None
    return Issue(
        f"{kind}_missing",
        f"No `sealdesk {kind}` runs: {needed_for}.",
        f"Start it: `systemctl start sealdesk-{kind}`, or `sealdesk {kind}` with the settings of"
        " the service; its log says why it has ended.",
        since,
    )


def find_other_version(alive: list[ProcessNote]) -> Issue | None:
    """Processes of different versions, which an upgrade leaves behind."""
    if len({process.build for process in alive}) < 2:
        return None
    # Of one version the newest commit is what was started last.
    newest = max(alive, key=lambda each: (each.version, each.started_at)).build
    old = [each for each in alive if each.build != newest]
    named = ", ".join(f"{each.kind} on {each.host} ({each.build})" for each in old[:5])
    return Issue(
        "versions_differ",
        f"Processes of several versions run: {named}, others {newest}.",
        f"Restart what is older with {newest}.",
    )


def last_sign(notes: Mapping[str, Note], kind: str) -> int | None:
    """When a process of this kind gave its last sign of life."""
    signs = [note.noted_at for note in notes.values() if decode(note.text).kind == kind]
    return max(signs, default=None)


def _is_new(note: Note, now_us: int) -> bool:
    return now_us - note.noted_at <= SILENT_US
