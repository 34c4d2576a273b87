"""What is wrong with the installation, as far as its processes have looked."""

from collections.abc import Iterable

import msgspec


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

    def __init__(self) -> None:
        self.findings = Findings()
        self.checked_at: int | None = None

    def replace(self, findings: Findings, now_us: int) -> list[Issue]:
        """Take newer findings; the issues that are new. An issue keeps since when it is seen."""
        known = {issue.code: issue.since for issue in self.findings.issues}
        dated = tuple(
            issue
            if issue.since is not None
            else msgspec.structs.replace(issue, since=known.get(issue.code) or now_us)
            for issue in findings.issues
        )
        self.findings = msgspec.structs.replace(findings, issues=dated)
        self.checked_at = now_us
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
