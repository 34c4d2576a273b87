"""How macros are compared, changed, and applied to a ticket; no IO."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log.events import Changes
from sealdesk.resources import merge_patch, representation
from sealdesk.resources.addresses import known_address
from sealdesk.resources.identity import identity, is_visible
from sealdesk.tickets.macros.types import (
    ME,
    AppliedMacro,
    Macro,
    MacroChange,
    MacroChoice,
    MacroResponse,
    split_folders,
)
from sealdesk.tickets.ticket.rules import distinct
from sealdesk.tickets.ticket.types import TicketChange, TicketResponse

MAX_MACROS = 500  # of a desk: the page of a ticket lists the names of all: 51 KB
MAX_OWN_MACROS = 100  # of a user, besides those of the desk
FIELDS = ("name", "shortcut", "body", "status", "priority", "assignee_id", "team_id", "tags")
_EMPTY = gettext_noop("Write a text, or choose what the macro sets.")

to_response = representation.response_builder(MacroResponse)


def find_empty(macro: Macro) -> list[Fault]:
    """A macro that does nothing is refused."""
    sets = (macro.status, macro.priority, macro.assignee_id, macro.team_id, macro.tags)
    return [] if is_visible(macro.body) or any(sets) else [Fault("/body", "empty_macro", _EMPTY)]


def changed(macro: Macro, change: MacroChange, now_us: int) -> Macro:
    """The macro after a change; the same object if nothing differs."""
    wanted = {name: getattr(change, name) for name in merge_patch.given_fields(change)}
    if "tags" in wanted:
        wanted["tags"] = distinct(wanted["tags"])
    after = msgspec.structs.replace(macro, **wanted)
    return macro if after == macro else msgspec.structs.replace(after, updated_at=now_us)


def differences(before: Macro, after: Macro) -> Changes:
    """The changed fields for the audit log: field → (old, new), without the texts."""
    changes = merge_patch.differences(before, after, FIELDS)
    if "body" in changes:
        changes["body"] = (f"{len(before.body)} characters", f"{len(after.body)} characters")
    return changes


def order(macro: Macro | MacroChoice) -> tuple[list[str], str, str]:
    """Macros are listed by folder and name, as people look for them, first those in no folder."""
    *folders, name = map(identity, split_folders(macro.name))
    return folders, name, macro.id


def by_folder(macros: Sequence[Macro]) -> dict[str, list[tuple[str, Macro]]]:
    """The name of a folder, "" for none → its macros with their names in it, in their order.

    Names that differ in spelling only, as in case, are one folder.
    """
    found: dict[str, list[tuple[str, Macro]]] = {}
    spelling: dict[str, str] = {}
    for macro in macros:
        *folders, name = split_folders(macro.name)
        folder = " / ".join(folders)
        found.setdefault(spelling.setdefault(identity(folder), folder), []).append((name, macro))
    return found


def values_for(ticket: TicketResponse, agent_name: str) -> Mapping[str, Any]:
    """The values of the variables. A customer without a name is called by the e-mail address."""
    customer = ticket.customer
    name = (customer.name or "").strip() or known_address(customer.email)
    return {
        "customer.name": name,
        "customer.first_name": _first_word(name),
        "customer.email": known_address(customer.email),
        "ticket.number": ticket.number,
        "ticket.subject": ticket.subject,
        "agent.name": agent_name,
        "agent.first_name": _first_word(agent_name),
    }


def unless_same(wanted: str | None, current: str | None) -> str:
    """A value that a macro sets, "" if it sets none or the ticket has it."""
    return wanted if wanted is not None and wanted != current else ""


def change_of(applied: AppliedMacro) -> TicketChange:
    """The change of the ticket's fields that a macro makes."""
    names = ("status", "priority", "assignee_id", "team_id")
    fields: dict[str, Any] = {name: text for name in names if (text := getattr(applied, name))}
    if applied.tags:
        fields["add_tags"] = [*applied.tags]
    return TicketChange(**fields)


def wanted_by(macro: Macro, user_id: str) -> TicketChange:
    """What a macro sets when this user uses it, whatever a ticket has already."""
    wanted: dict[str, Any] = {
        "status": macro.status,
        "priority": macro.priority,
        "assignee_id": assignee_of(macro, user_id),
        "team_id": macro.team_id,
        "add_tags": [*macro.tags],
    }
    return TicketChange(**{name: value for name, value in wanted.items() if value})


def assignee_of(macro: Macro, user_id: str) -> str | None:
    """The user whom a macro assigns to when this user uses it."""
    return user_id if macro.assignee_id == ME else macro.assignee_id


def _first_word(name: str) -> str:
    return (name.split() or [""])[0]
