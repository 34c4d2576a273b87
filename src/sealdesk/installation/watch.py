"""Looks every few seconds in each process, notes what it saw, and reads what the others saw."""

import asyncio
import logging
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import wraps

import msgspec

from sealdesk import __version__, build
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.installation import marking, processes
from sealdesk.installation.attachments import AttachmentWalk
from sealdesk.installation.checks import OF_THE_DATABASE, OF_THE_HOST
from sealdesk.installation.store import notes
from sealdesk.installation.store.notes import Note
from sealdesk.installation.types import NOT_NEEDED, Check, HostCheck, Kind, Look, ProcessNote
from sealdesk.state import AppState
from sealdesk.telemetry.issues import NOT_LOOKING, Findings, Issue, Unknown, merge

FIRST_LOOK_AFTER_S = 1.0

log = logging.getLogger("sealdesk.installation")


class Watch:
    """The looks of one process."""

    def __init__(self, state: AppState, kind: Kind) -> None:
        self._state = state
        self._kind: Kind = kind
        self._walk = AttachmentWalk()
        self._started_at = state.clock.now_us()
        self._name = f"process {socket.gethostname()} {os.getpid()} {kind}"
        # On SQLite one process does everything, and whoever asks asks it.
        self._is_noted = state.settings.has_worker_process

    async def run(self) -> None:
        """Look until cancelled, then take the sign of life away."""
        try:
            await asyncio.sleep(FIRST_LOOK_AFTER_S)
            while True:
                try:
                    await self.look()
                except Exception:
                    log.exception("the look at the installation failed")
                await asyncio.sleep(processes.LOOK_EVERY_S)
        finally:
            if self._is_noted:
                with suppress(ServiceUnavailable):
                    await self._state.database.write(lambda tx: notes.delete(tx, self._name))

    async def look(self) -> None:
        """Look once, and log issues that are new."""
        state = self._state
        now_us = state.clock.now_us()
        state.metrics.loop_time.note(state.metrics.responses.durations, state.clock.monotonic_s())
        look = Look(self._kind, state.settings, state.database.read, now_us)
        own = merge([await look_at_all(look, self._walk), self._own_state()])
        findings = await self._with_others(own, look) if self._is_noted else own
        for issue in state.issues.replace(findings, now_us):
            log.warning(issue.what, extra={"issue": issue.code, "advice": issue.do})

    def _own_state(self) -> Findings:
        """What the process has noticed of itself."""
        issues, codes = [], {"storage_faulty", NOT_LOOKING}
        if fault := self._state.database.health.reason:
            text = "See the log; `sealdesk doctor` looks at the database and the disk."
            issues.append(Issue("storage_faulty", f"{fault[0].upper()}{fault[1:]}.", text))
        # Only the processes that serve use Redis.
        if self._kind == "serve" and self._state.limits.limiter.mode != "per_process":
            codes.add("redis_unreachable")
            if self._state.limits.limiter.mode == "local":
                what = "Redis cannot be reached: each process applies its share of the rate limits."
                issues.append(Issue("redis_unreachable", what, "Start Redis, or check its URL."))
        return Findings(frozenset(codes), tuple(issues))

    async def _with_others(self, own: Findings, look: Look) -> Findings:
        text = self._note(own)
        expires_at = look.now_us + processes.KEPT_US

        async def exchange(tx: Tx) -> dict[str, Note]:
            await notes.put(tx, self._name, text, now_us=look.now_us, expires_at=expires_at)
            return await notes.list_processes(tx)

        try:
            await self._mark_directory(look)
            signs = await self._state.database.write(exchange)
            needs_mail = self._kind == "serve" and await look.read(notes.has_receiving_mailbox)
        except ServiceUnavailable:
            why = "the database cannot be reached"
            codes = ("process_silent", "worker_missing", "mail_missing", "versions_differ")
            unknown = tuple(Unknown(code, why) for code in codes)
            return msgspec.structs.replace(own, unknown=own.unknown + unknown)
        seen = look_at_processes(signs, look.now_us, needs_mail=needs_mail)
        others = (each for each in processes.living(signs, look.now_us) if not self._is_own(each))
        return merge([own, seen, *(each.told_on(socket.gethostname()) for each in others)])

    def _is_own(self, note: ProcessNote) -> bool:
        return self._name == f"process {note.host} {note.pid} {note.kind}"

    def _note(self, own: Findings) -> str:
        host, pid = socket.gethostname(), os.getpid()
        commit = build.commit()
        note = ProcessNote(self._kind, host, pid, __version__, self._started_at, own, commit)
        return msgspec.json.encode(note).decode()

    async def _mark_directory(self, look: Look) -> None:
        """The first process that has a data directory marks it as the one that all use."""
        data_dir = look.settings.data_dir
        if self._kind == "mail" or look.settings.attachment_bucket or not data_dir.is_dir():
            return
        with suppress(OSError):
            await marking.mark(self._state.database, data_dir, look.now_us)


async def look_at_all(look: Look, walk: AttachmentWalk) -> Findings:
    """The result of all checks of this host and of the database."""
    every: list[Check] = [in_thread(check) for check in OF_THE_HOST]
    every += [*OF_THE_DATABASE, walk.attachments_missing]
    return merge([await attempt(check, look) for check in every])


def look_at_processes(signs: Mapping[str, Note], now_us: int, *, needs_mail: bool) -> Findings:
    """Which processes are missing, silent or of another version. signs: their notes, by name."""
    alive = processes.living(signs, now_us)
    missing = [
        processes.find_missing(
            alive,
            "worker",
            "webhooks, e-mail and the search wait for it",
            processes.last_sign(signs, "worker"),
        )
    ]
    looked_at = {"process_silent", "versions_differ", "worker_missing"}
    if needs_mail:
        looked_at.add("mail_missing")
        sign = processes.last_sign(signs, "mail")
        missing.append(processes.find_missing(alive, "mail", "mailboxes are not read", sign))
    silent = processes.find_silent(signs, now_us)
    found = (*missing, silent, processes.find_other_version(alive))
    return Findings(frozenset(looked_at), tuple(each for each in found if each is not None))


def in_thread(check: HostCheck) -> Check:
    @wraps(check)
    async def run(look: Look) -> Issue | Unknown | None:
        return await asyncio.to_thread(check, look)

    return run


async def attempt(check: Check, look: Look) -> Findings:
    """The result of a check, whose code is the name of its function; unknown if it cannot look."""
    code = check.__name__
    try:
        return findings_of(code, await check(look))
    except OSError as error:
        why = error.strerror or str(error)
    except ServiceUnavailable:
        why = "the database or the storage cannot be reached"
    except Exception:
        log.exception("a check failed", extra={"check": code})
        why = "the check itself failed; see the log"
    return findings_of(code, Unknown(code, why))


def findings_of(code: str, found: Issue | Unknown | None) -> Findings:
    """The findings of one check."""
    if found is NOT_NEEDED:
        return Findings()
    if isinstance(found, Unknown):
        return Findings(unknown=(found,))
    return Findings(frozenset({code}), () if found is None else (found,))
