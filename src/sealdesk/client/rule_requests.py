"""Paths, results and readers of the requests for rules that an API key manages."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.client.operation import page_reader_of, reader_of
from sealdesk.client.results import Result
from sealdesk.client.targets import ROOT, encode_segment

PATH = f"{ROOT}/rules"


class Rule(Result, frozen=True, kw_only=True):
    """A rule: what a desk does with a ticket by itself. paused_because: why it is stopped."""

    id: str
    name: str = ""
    position: int = 0
    trigger: str = ""
    hours: int = 0
    conditions: Sequence[dict[str, Any]] = ()
    actions: dict[str, Any] = msgspec.field(default_factory=dict)
    is_enabled: bool = False
    paused_because: str | None = None
    version: int = 0
    created_at: str = ""
    updated_at: str = ""


class DryRun(Result, frozen=True, kw_only=True):
    """What a rule would have done to tickets. next_after: for the next call; None at the end."""

    tickets: Sequence[dict[str, Any]] = ()
    next_after: int | None = None


read_rule, read_rules = reader_of(Rule), page_reader_of(Rule)
read_dry_run = reader_of(DryRun)


def path_of(rule_id: str) -> str:
    return f"{PATH}/{encode_segment(rule_id)}"
