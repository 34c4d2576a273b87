"""Whatever has a name of its own: which ways to write it are one name, and which are two."""

from collections.abc import Callable, Sequence
from itertools import count

from msgspec import Struct

from sealdesk.automation.rules_file import FiledRule, Named, RulesFile, from_file
from sealdesk.automation.types import RuleActions
from sealdesk.errors import ValidationFailed
from sealdesk.identity.types import Invitation, NameChange
from sealdesk.routes.table import ROUTES
from sealdesk.web.faults import fields_of, find_faults
from tests.support.for_each import for_each
from tests.support.pages import logged_in
from tests.support.service import Tenant

Taken = Callable[[Tenant, Sequence[str]], list[str]]
_ONE = ("Café Straße", "cafe\u0301 strasse", "CAFÉ\u00a0STRASSE", "ca\u200bfé  stra\u00adße")
# Accents count, and so do characters that people tell apart.
_OTHERS = ("cafe strasse", "\uff43afé strasse", "café-strasse", "café stra①e")


def _greedy(names: Sequence[str], takes: Callable[[list[str]], bool]) -> list[str]:
    """The names that are taken beside those before them."""
    kept: list[str] = []
    for each in names:
        kept += [each] if takes([*kept, each]) else []
    return kept


def _posted(path: str, *, new: Callable[[str, int], dict[str, object]]) -> Taken:
    def post(tenant: Tenant, names: Sequence[str]) -> list[str]:
        admin, place = tenant.admin(), count()
        return _greedy(
            names,
            lambda kept: admin.post(path, new(kept[-1], next(place))).status_code == 201,
        )

    return post


_teams = _posted("/api/v1/teams", new=lambda name, _: {"name": name})
_macros = _posted(
    "/api/v1/macros", new=lambda name, at: {"name": name, "shortcut": f"m{at}", "body": "Text"}
)
_shortcuts = _posted(
    "/api/v1/macros",
    new=lambda name, at: {"name": f"{at}", "shortcut": "_".join(name.split()), "body": "Text"},
)
_fields = _posted(
    "/api/v1/custom-fields", new=lambda name, at: {"key": f"k{at}", "label": name, "type": "text"}
)
_policies = _posted(
    "/api/v1/sla-policies",
    new=lambda name, at: {
        "name": name,
        "tags": [f"t{at}"],
        "counts": "calendar",
        "first_response_minutes": 60,
    },
)


def _views(tenant: Tenant, names: Sequence[str]) -> list[str]:
    visitor = logged_in(tenant)
    form = visitor.get("/tickets/views/new?priority=high").form("/tickets/views")
    return _greedy(
        names, lambda kept: visitor.submit(form, name=kept[-1], owner="desk").status == 200
    )


def _choices(tenant: Tenant, names: Sequence[str]) -> list[str]:
    def takes(choices: list[str]) -> bool:
        at = len(choices)
        new = {"key": f"key{at}", "label": f"{at}", "type": "choice", "choices": choices}
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


@for_each(
    "taken",
    [
        _teams,
        _macros,
        _shortcuts,
        _fields,
        _policies,
        _views,
        _choices,
        _tags,
        _rules_of_a_file,
    ],
)
def test_a_name_belongs_to_one_however_it_is_spelled(taken: Taken, tenant: Tenant) -> None:
    assert taken(tenant, [*_ONE, *_OTHERS]) == [_ONE[0], *_OTHERS]


_TEXTS = ("name", "label", "subject", "description", "shortcut", "note", "reply", "choices", "tags")


def _takes(struct: type[Struct], name: str) -> bool:
    """Whether a field takes a text without anything that can be seen."""
    unseen = ["\u3164"] if name in ("choices", "tags") else "\u3164"
    faults = find_faults({name: unseen}, struct)
    return not any(each.pointer.startswith(f"/{name}") for each in faults)


def test_no_name_and_no_text_is_invisible() -> None:
    structs: set[type[Struct]] = {Invitation, NameChange, RuleActions}
    structs |= {route.operation.takes for route in ROUTES if route.operation.takes is not None}
    named = {each: {field.name for field in fields_of(each)} for each in structs}
    taken = {
        f"{each.__name__}.{name}"
        for each, names in named.items()
        for name in names.intersection(_TEXTS)
        if _takes(each, name)
    }
    # They may be empty, and that is what they are then.
    assert taken == {
        *("CustomerChange.name", "CustomerUpsert.name", "NewCustomer.name"),
        *("NewWebhook.description", "WebhookChange.description"),
    }
