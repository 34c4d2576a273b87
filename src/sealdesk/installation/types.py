"""The structs of the check: what a check needs, and what processes note."""

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple, Protocol

import msgspec

from sealdesk.installation.store.notes import Read
from sealdesk.settings import Settings
from sealdesk.telemetry.issues import Findings, Issue, Unknown

Kind = Literal["serve", "worker", "mail", "command"]


class Look(NamedTuple):
    """What checks look at. kind: of the process. sees_all: whether it reads rows of all tenants."""

    kind: Kind
    settings: Settings
    read: Read
    now_us: int

    @property
    def sees_all(self) -> bool:
        return self.kind == "worker" or not self.settings.has_worker_process


# What a check gives where there is nothing to look at: no second host, no certificate.
NOT_NEEDED = Unknown("", "")
# A check of the machine; as for Check, but it may block.
HostCheck = Callable[[Look], Issue | Unknown | None]


class Check(Protocol):
    """Gives the issue, None when all is well, or why it could not look. Its name is the code."""

    @property
    def __name__(self) -> str: ...

    def __call__(self, look: Look, /) -> Awaitable[Issue | Unknown | None]: ...


class ProcessNote(msgspec.Struct, frozen=True):
    """What a process notes every few seconds.

    started_at: microseconds. commit: "" from older versions.
    """

    kind: Kind
    host: str
    pid: int
    version: str
    started_at: int
    findings: Findings
    commit: str = ""

    @property
    def build(self) -> str:
        """The version, and the commit in short: there are many of one version."""
        return f"{self.version} {self.commit[:12]}".strip()

    def told_on(self, host: str) -> Findings:
        """The findings as another host tells them: each issue names where it was seen."""
        if host == self.host:
            return self.findings
        issues = tuple(
            msgspec.structs.replace(each, what=f"On {self.host}: {each.what}")
            for each in self.findings.issues
        )
        return msgspec.structs.replace(self.findings, issues=issues)


DOCUMENTS = "ticket documents"  # the name of the next note


class DocumentsNote(msgspec.Struct, frozen=True):
    """How far the worker has rewritten the documents of tickets.

    shape: that they get. tenant_id: whose turn it is. ticket_id: up to which; None: all of theirs.
    """

    shape: str
    tenant_id: str = ""
    ticket_id: str | None = None
    is_finished: bool = False


class BackupNote(msgspec.Struct, frozen=True):
    """What a backup notes. lacking_count: attachments that it lacks."""

    file: str
    lacking_count: int
