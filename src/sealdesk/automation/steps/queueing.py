"""A consumer of the event log that notes the tickets for which automation rules may hold."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.automation.matching import RuleIndex, facts_of
from sealdesk.automation.rules import ANNOUNCED, TRIGGERS
from sealdesk.automation.steps import store
from sealdesk.automation.steps.store import Stamp, Task
from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.event_log.events import is_history

_MAX_KNOWN = 100  # tenants whose rules stay in memory: some 1 MiB for 1,000 rules


class RuleQueue:
    """Notes the tickets of new events. tenant_id: of this tenant, else of all tenants."""

    name = "automation"
    batch_size = store.BATCH_EVENTS
    reads_objects = False

    def __init__(self, tenant_id: str = "") -> None:
        self.tenant_id = tenant_id
        self._known: dict[Stamp, RuleIndex] = {}

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return bool(await self._list_stamps(tx, first, last))

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        stamps = await self._list_stamps(tx, events[0].log_position, events[-1].log_position)
        for stamp in stamps:
            index = await self._find_index(tx, stamp)
            of_tenant = [
                each
                for each in events
                if each.tenant_id == stamp.tenant_id
                and TRIGGERS.get(each.type) in index.triggers
                and not is_history(each.id, each.happened_at)
            ]
            if of_tenant:
                await _note(tx, index, of_tenant, now_us)
        return len(events)

    async def recover(self, tx: Tx) -> None:
        """Nothing: a pruned event is too old to act on."""

    async def _list_stamps(self, tx: Tx, first: int, last: int) -> list[Stamp]:
        if self.tenant_id:
            return await store.list_stamps_of(tx, self.tenant_id)
        return await store.list_stamps(tx, first, last)

    async def _find_index(self, tx: Tx, stamp: Stamp) -> RuleIndex:
        if stamp not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[stamp] = RuleIndex(await store.list_running(tx, stamp.tenant_id))
        return self._known[stamp]


async def _note(tx: Tx, index: RuleIndex, events: Sequence[LogEvent], now_us: int) -> None:
    """Note the tickets of a tenant's events for which a rule may hold."""
    tenant_id = events[0].tenant_id
    objects = await store.list_objects(tx, tenant_id, events[0].position, events[-1].position)
    for event in events:
        if event.id not in objects:
            continue
        shown, trigger = msgspec.json.decode(objects[event.id]), TRIGGERS[event.type]
        ticket_id = _find_ticket_id(event, shown)
        event_us = ids.instant_of(event.id)
        if ticket_id is None or not _may_act(index, event, shown, event_us):
            continue
        if await _is_caused(tx, event, ticket_id, shown):
            continue
        await store.add_task(tx, tenant_id, Task(event.id, ticket_id, trigger, event_us), now_us)


def _tells_of_change(event: LogEvent) -> bool:
    """Whether its ticket has the version that the event made."""
    return event.type.startswith("ticket.") and TRIGGERS[event.type] not in ANNOUNCED


async def _is_caused(tx: Tx, event: LogEvent, ticket_id: str, shown: Mapping[str, Any]) -> bool:
    """Whether a rule made the version of the ticket, or wrote the reply."""
    if _tells_of_change(event):
        return await store.is_caused(tx, event.tenant_id, ticket_id, shown["version"])
    author = shown.get("author")
    return author is not None and await store.is_rule(tx, event.tenant_id, ticket_id, author["id"])


def _find_ticket_id(event: LogEvent, shown: Mapping[str, Any]) -> str | None:
    """The ticket of an event; None for notes, to which rules do not react."""
    if event.type.startswith("ticket."):
        return str(shown["id"])
    return None if shown.get("is_internal") else str(shown["ticket_id"])


def _may_act(index: RuleIndex, event: LogEvent, shown: Mapping[str, Any], event_us: int) -> bool:
    """Whether a rule holds. The ticket of a reply is read when its rules run."""
    if not event.type.startswith("ticket."):
        return True
    return index.may_act(TRIGGERS[event.type], facts_of(shown), event_us)
