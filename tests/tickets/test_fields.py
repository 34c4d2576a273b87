"""The fields of a ticket are declared in its structs and nowhere else."""

import ast
import inspect
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from sealdesk.customers import rules as customer_rules
from sealdesk.customers import store as customers
from sealdesk.customers import types as customer_types
from sealdesk.db.schema import metadata
from sealdesk.resources import merge_patch, representation
from sealdesk.tickets.ticket import examples, rules, types
from sealdesk.tickets.ticket.store import tickets

# What a change says of the field `tags` beside its whole value.
OF_TAGS = {"add_tags", "remove_tags"}
WRITABLE = {*types.TicketChange.__struct_fields__} - OF_TAGS


def names(struct: type[msgspec.Struct]) -> set[str]:
    return set(struct.__struct_fields__)


def columns(table: str) -> set[str]:
    return {column.name for column in metadata.tables[table].columns}


def test_the_columns_of_a_ticket_are_the_fields_of_its_struct() -> None:
    assert columns("tickets") == names(types.Ticket) - {"due"} | {"document", "rating"}


def test_the_columns_of_a_customer_are_the_fields_of_its_struct() -> None:
    computed = {"email_identity", "reference"}
    elsewhere = {"merged_into_id"}  # in customer_merges
    assert columns("customers") == (names(customer_types.Customer) | computed) - elsewhere


def test_a_field_that_can_be_changed_can_be_given_at_first_and_is_shown() -> None:
    assert names(types.NewTicket) > WRITABLE
    assert names(types.TicketDocument) > WRITABLE
    assert names(types.NewTicket) - names(types.TicketDocument) == {"customer", "attachment_ids"}
    assert names(customer_types.CustomerChange) == names(customer_types.NewCustomer)
    assert names(customer_types.CustomerChange) < names(customer_types.CustomerResponse)


def test_a_field_that_is_shown_is_writable_or_ignored_in_a_body() -> None:
    shown = names(types.TicketDocument)
    assert shown <= names(types.NewTicket) | types.NewTicket.IGNORED
    assert shown <= names(types.TicketChange) | types.TicketChange.IGNORED


@pytest.mark.parametrize("module", [rules, tickets, customer_rules, customers])
def test_no_other_module_names_a_writable_field_that_needs_no_conversion(module: Any) -> None:
    # These follow rules of their own, or are found by; every other field is copied by name.
    special = {"status", "priority", "tags", "custom_fields", "external_id"}
    special |= {"assignee_id", "team_id", "snoozed_until"}
    special |= {"email", "name", "metadata", "company", "phone"}
    tree = ast.parse(inspect.getsource(module))
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not constants & (WRITABLE - special)


def test_indexed_fields_are_set_only_if_they_change() -> None:
    indexes = metadata.tables["tickets"].indexes
    indexed = {column.name for index in indexes for column in index.columns}
    changed = names(types.TicketChange) | {"waiting_since", "due_at", "alert_at"}
    assert {*tickets._SET_IF_CHANGED} == indexed & changed


class LargerTicket(types.Ticket, frozen=True, kw_only=True):
    """A stored ticket to which a field was added."""

    topic: str | None = None


class LargerChange(types.TicketChange, frozen=True, kw_only=True):
    topic: str | UnsetType | None = UNSET


class LargerDocument(types.TicketDocument, frozen=True, kw_only=True):
    topic: str | None = None


def test_an_added_field_is_changed_shown_and_named_in_events_by_its_types_alone() -> None:
    fields = dict.fromkeys(types.Ticket.__struct_fields__)
    before = LargerTicket(**fields | {"created_at": 1, "updated_at": 1})  # type: ignore[arg-type]
    change = LargerChange(topic="glaze")
    after = msgspec.structs.replace(before, **merge_patch.given_fields(change))
    changes = merge_patch.differences(before, after, names(LargerChange) - OF_TAGS)
    assert changes == {"topic": (None, "glaze")}
    assert representation.response_builder(LargerDocument)(after).topic == "glaze"


def test_a_document_from_before_a_field_was_added_can_be_read() -> None:
    stored = msgspec.json.encode(examples.TICKET)
    assert msgspec.json.decode(stored, type=LargerDocument).topic is None
