"""Whatever has a name of its own: which ways to write it are one name, and which are two."""

from collections.abc import Callable, Sequence

from sealdesk.errors import ValidationFailed
from sealdesk.tickets.automation.rules_file import FiledRule, Named, RulesFile, from_file
from sealdesk.tickets.automation.types import RuleActions
from tests.support.for_each import for_each
from tests.support.pages import logged_in
from tests.support.service import Tenant

_ONE = ("Café Straße", "cafe\u0301 strasse", "CAFÉ\u00a0STRASSE", "ca\u200bfé  stra\u00adße")
# Accents count, and so do characters that people tell apart.
_OTHERS = ("cafe strasse", "\uff43afé strasse", "café-strasse", "café stra①e")


def _greedy(names: Sequence[str], takes: Callable[[list[str]], bool]) -> list[str]:
    """The names that are taken beside those before them."""
    kept: list[str] = []
    for each in names:
        kept += [each] if takes([*kept, each]) else []
    return kept


def _teams(tenant: Tenant, names: Sequence[str]) -> list[str]:
    admin = tenant.admin()
    return _greedy(
        names, lambda to: admin.post("/api/v1/teams", {"name": to[-1]}).status_code == 201
    )


def _shortcuts(tenant: Tenant, names: Sequence[str]) -> list[str]:
    def takes(kept: list[str]) -> bool:
        new = {"name": "Any", "body": "Text", "shortcut": "_".join(kept[-1].split())}
        return tenant.admin().post("/api/v1/macros", new).status_code == 201

    return _greedy(names, takes)


def _views(tenant: Tenant, names: Sequence[str]) -> list[str]:
    visitor = logged_in(tenant)
    form = visitor.get("/tickets/views/new?priority=high").form("/tickets/views")
    return _greedy(
        names, lambda kept: visitor.submit(form, name=kept[-1], owner="desk").status == 200
    )


def _choices(tenant: Tenant, names: Sequence[str]) -> list[str]:
    def takes(choices: list[str]) -> bool:
        new = {"key": f"key{len(choices)}", "label": "Any", "type": "choice", "choices": choices}
        return tenant.admin().post("/api/v1/custom-fields", new).status_code == 201

    return _greedy(names, takes)


def _tags(tenant: Tenant, names: Sequence[str]) -> list[str]:
    return list(tenant.key().ticket(tags=names)["tags"])


def _rules_of_a_file(tenant: Tenant, names: Sequence[str]) -> list[str]:
    def takes(kept: list[str]) -> bool:
        filed = [FiledRule(each, "created", RuleActions(priority="high")) for each in kept]
        try:
            return bool(from_file(RulesFile(filed), Named({}, {}, {})))
        except ValidationFailed:
            return False

    return _greedy(names, takes)


@for_each("taken", [_teams, _shortcuts, _views, _choices, _tags, _rules_of_a_file])
def test_a_name_belongs_to_one_however_it_is_spelled(
    taken: Callable[[Tenant, Sequence[str]], list[str]], tenant: Tenant
) -> None:
    assert taken(tenant, [*_ONE, *_OTHERS]) == [_ONE[0], *_OTHERS]
