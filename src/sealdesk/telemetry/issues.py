"""What is wrong with the installation, as far as its processes have looked."""

from collections.abc import Callable, Iterable

import msgspec

NOT_LOOKING = "checks_stopped"
# Four looks: one of them may wait for a busy disk or database.
_STOPPED_S = 20.0


class Issue(msgspec.Struct, frozen=True):
    """Something that an operator should repair. code: of `installation/checks.py`.

    what: one sentence. do: what repairs it. since: microseconds, None for as long as it is seen.
    """

    code: str
    what: str
    do: str
    since: int | None = None


class Unknown(msgspec.Struct, frozen=True):
    """What was not looked at, and why."""

    code: str
    why: str


class Findings(msgspec.Struct, frozen=True):
    """The result of one look. looked_at: the codes of all checks that could look."""

    looked_at: frozenset[str] = frozenset()
    issues: tuple[Issue, ...] = ()
    unknown: tuple[Unknown, ...] = ()


class Issues:
    """The newest findings of a process. checked_at: microseconds, None before the first look."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self.checked_at: int | None = None
        self._newest = Findings()
        self._monotonic_s = monotonic_s
        self._looked_s = 0.0

    @property
    def findings(self) -> Findings:
        """What the last look saw. Once it is long ago, what was well then is unknown."""
        is_stopped = self._monotonic_s() - self._looked_s > _STOPPED_S
        if self.checked_at is None or not is_stopped:
            return self._newest
        return _outdated(self._newest, self.checked_at)

    def replace(self, findings: Findings, now_us: int) -> list[Issue]:
        """Take newer findings; the issues that are new. An issue keeps since when it is seen."""
        known = {issue.code: issue.since for issue in self._newest.issues}
        dated = tuple(
            issue
            if issue.since is not None
            else msgspec.structs.replace(issue, since=known.get(issue.code) or now_us)
            for issue in findings.issues
        )
        self._newest = msgspec.structs.replace(findings, issues=dated)
        self.checked_at, self._looked_s = now_us, self._monotonic_s()
        return [issue for issue in dated if issue.code not in known]


def merge(many: Iterable[Findings]) -> Findings:
    """The findings of several processes: an issue of any of them, and unknown what none knows."""
    issues: dict[str, Issue] = {}
    unknown: dict[str, Unknown] = {}
    looked_at: set[str] = set()
    for findings in many:
        looked_at |= findings.looked_at
        unknown |= {each.code: each for each in findings.unknown}
        for issue in findings.issues:
            issues.setdefault(issue.code, issue)
    return Findings(
        frozenset(looked_at),
        tuple(issues.values()),
        tuple(each for each in unknown.values() if each.code not in looked_at),
    )


def _outdated(findings: Findings, checked_at: int) -> Findings:
    why = "this process has stopped looking"
    stopped = Issue(
        NOT_LOOKING,
        "A process that serves has not looked at the installation for more than"
        f" {_STOPPED_S:.0f} s, so nothing is known to be well.",
        "The disk or the database may not answer, such as a directory on a network: the log and"
        " `sealdesk doctor` tell. Then restart the process.",
        checked_at,
    )
    unknown = {each.code: each for each in findings.unknown}
    unknown |= {code: Unknown(code, why) for code in findings.looked_at - {NOT_LOOKING}}
    return Findings(
        frozenset({NOT_LOOKING}),
        (*findings.issues, stopped),
        tuple(unknown[code] for code in sorted(unknown)),
    )
