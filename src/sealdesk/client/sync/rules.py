# Made by `python -m tests.client.sync_source` from client/aio/rules.py: change that file.
"""The rules of `Desk`."""

from typing import Unpack

from sealdesk.client import rule_requests as requests
from sealdesk.client.operation import ListOperation, Operation, delete, patch, post
from sealdesk.client.parameters import NewRule, RuleChange, check_names
from sealdesk.client.results import Done
from sealdesk.client.rule_requests import DryRun, Rule
from sealdesk.client.sync.iterators import Pages
from sealdesk.client.sync.resources import Resource
from sealdesk.client.targets import make_target


class Rules(Resource):
    """The rules of a desk."""

    def list(self) -> Pages[Rule]:
        """List the rules, newest first; they run in the order of `position`."""
        return self._desk.list(ListOperation(requests.PATH, {}, requests.read_rules))

    def get(self, rule_id: str) -> Rule:
        """Get a rule."""
        operation = Operation("GET", requests.path_of(rule_id), b"", {}, requests.read_rule)
        return self._desk.run(operation._replace(resource_id=rule_id))

    def create(self, *, idempotency_key: str | None = None, **fields: Unpack[NewRule]) -> Rule:
        """Create a rule, which is switched off unless is_enabled is True."""
        check_names(fields, NewRule)
        return self._desk.run(post(requests.PATH, fields, idempotency_key, requests.read_rule))

    def update(self, rule_id: str, **fields: Unpack[RuleChange]) -> Rule:
        """Change fields of a rule."""
        check_names(fields, RuleChange, shown=Rule.__struct_fields__)
        operation = patch(requests.path_of(rule_id), fields, None, requests.read_rule)
        return self._desk.run(operation._replace(resource_id=rule_id))

    def delete(self, rule_id: str) -> Done:
        """Delete a rule; what it has done stays."""
        return self._desk.run(delete(requests.path_of(rule_id)))

    def dry_run(self, rule_id: str, *, after: int | None = None) -> DryRun:
        """What a rule would have done lately. after: `next_after` of the part before."""
        target = make_target(f"{requests.path_of(rule_id)}/dry-run", {"after": after})
        return self._desk.run(Operation("GET", target, b"", {}, requests.read_dry_run))
