"""The API of automation rules."""

from sealdesk.automation import actions, dry_run, examples, rules, store
from sealdesk.automation.errors import TOO_MANY_RULES
from sealdesk.automation.types import NewRule, RuleChange, RuleResponse
from sealdesk.db.engine import Tx
from sealdesk.web import body, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_all
from sealdesk.web.request import Request, Response

_TAG = "Rules"
_AFTER = (query.number("after", "`next_after` of the previous response."),)


@operation("List rules", tag=_TAG, gives=examples.RULE, is_list=True, params=PAGING)
async def list_rules(request: Request) -> Response:
    """Newest first; they run in the order of `position`."""
    return await list_all(request, store.list_page, rules.to_response)


@operation(
    "Create a rule",
    tag=_TAG,
    takes=NewRule,
    gives=examples.RULE,
    status=201,
    headers=("idempotency-key",),
    response_headers=("location",),
    fails=(TOO_MANY_RULES,),
    example=examples.NEW_RULE,
)
async def create_rule(request: Request) -> Response:
    """What the desk does with a ticket by itself, after an event or when nothing happens for some
    hours. A rule acts on what happens after it is switched on, and never on what rules did."""
    new = body.read(request, NewRule)

    async def work(tx: Tx) -> Response:
        rule = await actions.create_rule(tx, request.caller, new, now_us=request.now_us)
        return envelope.created(request, rules.to_response(rule))

    return await request.write_idempotently(work)


@operation("Get a rule", tag=_TAG, gives=examples.RULE)
async def get_rule(request: Request, rule_id: str) -> Response:
    """The rule, and whether the desk has paused it."""
    return envelope.one(await _show(request, rule_id))


async def _show(request: Request, rule_id: str) -> RuleResponse:
    return rules.to_response(await request.fetch(actions.get_rule, rule_id))


@operation(
    "Change a rule",
    tag=_TAG,
    takes=RuleChange,
    gives=examples.RULE,
    example=examples.RULE_CHANGE,
)
async def change_rule(request: Request, rule_id: str) -> Response:
    """A JSON Merge Patch. What the rule has done stays."""
    change = await body.read_change(request, RuleChange, lambda: _show(request, rule_id))
    rule = await request.act(actions.change_rule, rule_id, change, now_us=request.now_us)
    return envelope.one(rules.to_response(rule))


@operation("Delete a rule", tag=_TAG, status=204)
async def delete_rule(request: Request, rule_id: str) -> Response:
    """What the rule has done stays."""
    await request.act(actions.delete_rule, rule_id, now_us=request.now_us)
    return envelope.nothing()


@operation("Try a rule", tag=_TAG, gives=examples.DRY_RUN, params=_AFTER)
async def try_rule(request: Request, rule_id: str) -> Response:
    """What the rule would have done in the last 30 days, whether it is switched on or not. Nothing
    is changed. A response reads up to 2,000 events."""
    after = query.parse(request.query, _AFTER).get("after", 0)
    rule = await request.fetch(actions.get_rule, rule_id)
    trial = await dry_run.run(request.read, rule, after, request.now_us)
    return envelope.one(rules.to_dry_run(trial))
