"""A model of the service in dictionaries: any sequence of requests gets the same responses."""

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.examples import examples
from tests.support.service import Service

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
STATUSES = ("open", "pending", "on_hold", "resolved", "closed")
PRIORITIES = ("low", "medium", "high", "urgent")
Row = dict[str, Any]

PLACES = st.integers(0, 100)
EMAILS = st.sampled_from(["a@example.test", "A@example.test", "b@example.test", "c@example.test"])
NAMES = st.sampled_from([None, "Ada", "Bob"])
VALUES = st.recursive(
    st.sampled_from([None, True, 1, "x"]),
    lambda inner: st.dictionaries(st.sampled_from("pq"), inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.none() | st.dictionaries(st.sampled_from("pq"), VALUES, max_size=2)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "subject": st.sampled_from(["one", "two"]),
    "status": st.sampled_from(STATUSES),
    "priority": st.sampled_from(PRIORITIES),
    "tags": st.none() | st.lists(st.sampled_from("xyz"), max_size=3),
    "custom_fields": OBJECTS,
    "external_id": st.sampled_from([None, "e1", "e2"]),
}
FIRST_FIELDS = FIELDS | {"status": st.sampled_from(STATUSES[:4])}
CUSTOMER_FIELDS = {"email": EMAILS, "name": NAMES, "phone": NAMES, "metadata": OBJECTS}
REPLIES = st.fixed_dictionaries(
    {"body": st.sampled_from(["Hello", "Bye"])},
    optional={"is_internal": st.booleans(), "author": st.just({"type": "customer"})},
)
FILTERS = {
    "status": st.sampled_from(["open", "open,closed", "pending,on_hold,resolved"]),
    "priority": st.sampled_from(["low", "high,urgent"]),
    "tag": st.sampled_from("xyz"),
    "external_id": st.sampled_from(["e1", "e2"]),
    "sort": st.sampled_from(["asc", "desc"]),
}


def some(fields: dict[str, Any]) -> st.SearchStrategy[Row]:
    return st.fixed_dictionaries({}, optional=fields)


def merged(before: Any, patch: Any) -> Any:
    """RFC 7396, section 2, word for word."""
    if not isinstance(patch, dict):
        return patch
    after = dict(before) if isinstance(before, dict) else {}
    for name, value in patch.items():
        if value is None:
            after.pop(name, None)
        else:
            after[name] = merged(after.get(name), value)
    return after


def changed(before: Row, change: Row, free: str) -> Row:
    """A row after a merge patch; `free` is its free object. Its version rises if it differs."""
    after = before | change
    if "tags" in change:
        after["tags"] = list(dict.fromkeys(change["tags"] or []))
    if free in change:
        after[free] = {} if change[free] is None else merged(before[free], change[free])
    return before if text(after) == text(before) else after | {"version": before["version"] + 1}


def text(value: Any) -> str:
    """To compare by: Python takes 1 and true for equal."""
    return json.dumps(value, sort_keys=True)


def moved(before: Row, after: Row) -> Row:
    """The marks of a ticket whose status may have changed."""
    status = after["status"]
    if status == before["status"]:
        return after
    if status in ("resolved", "closed"):
        return after | {f"is_{status}": True}
    return after | {"is_resolved": False, "is_closed": False}


class Model(RuleBasedStateMachine):
    """The expected tickets, replies and customers of a tenant, oldest first."""

    service: Service

    def __init__(self) -> None:
        super().__init__()
        self.key = self.service.tenant().key()
        self.tickets: list[Row] = []
        self.replies: list[list[Row]] = []
        self.customers: list[Row] = []

    def owner(self, email: str) -> Row | None:
        """Whose address it is."""
        return next((c for c in self.customers if c["email"].lower() == email.lower()), None)

    def seen(self, ticket: Row) -> Row:
        """A ticket of the model as the API shows it, as far as the model goes."""
        customer = self.customers[ticket["customer"]]
        shown = {name: customer[name] for name in ("id", "email", "name")}
        return ticket | {"customer": shown}

    @rule(email=EMAILS, name=NAMES)
    def create_customer(self, email: str, name: str | None) -> None:
        response = self.key.post(CUSTOMERS, {"email": email, "name": name})
        owner = self.owner(email)
        if owner is None:
            assert response.status_code == 201
            self.add_customer(response.json()["data"]["id"], email, name)
        else:
            assert (response.status_code, response.json()["existing_id"]) == (409, owner["id"])

    def add_customer(self, customer_id: str, email: str, name: str | None) -> None:
        plain: Row = {"phone": None, "metadata": {}, "version": 1}
        self.customers.append({"id": customer_id, "email": email, "name": name, **plain})

    @precondition(lambda self: self.customers)
    @rule(place=PLACES, change=some(CUSTOMER_FIELDS))
    def change_customer(self, place: int, change: Row) -> None:
        place %= len(self.customers)
        before = self.customers[place]
        response = self.key.patch(f"{CUSTOMERS}/{before['id']}", change)
        owner = self.owner((before | change)["email"])
        if owner not in (None, before):
            assert (response.status_code, response.json()["existing_id"]) == (409, owner["id"])
            return
        self.customers[place] = changed(before, change, "metadata")
        assert response.status_code == 200
        assert response.headers["etag"] == f'"{self.customers[place]["version"]}"'

    @rule(email=EMAILS, name=NAMES, fields=some(FIRST_FIELDS))
    def open_ticket(self, email: str, name: str | None, fields: Row) -> None:
        plain = {"subject": "one", "description": "d"}
        new = {**plain, **fields, "customer": {"email": email, "name": name}}
        response = self.key.post(TICKETS, new)
        assert response.status_code == 201
        shown = response.json()["data"]
        owner = self.owner(email)
        if owner is None:
            self.add_customer(shown["customer"]["id"], email, name)
        elif owner["name"] is None and name is not None:
            owner |= {"name": name, "version": owner["version"] + 1}
        status = fields.get("status", "open")
        self.tickets.append(
            {
                "id": shown["id"],
                "subject": new["subject"],
                "status": status,
                "priority": fields.get("priority", "medium"),
                "tags": list(dict.fromkeys(fields.get("tags") or [])),
                "custom_fields": fields.get("custom_fields") or {},
                "external_id": fields.get("external_id"),
                "reply_count": 0,
                "is_answered": False,
                "is_resolved": status == "resolved",
                "is_closed": False,
                "customer": self.customers.index(self.owner(email) or {}),
                "version": 1,
            }
        )
        self.replies.append([])

    @precondition(lambda self: self.tickets)
    @rule(place=PLACES, change=some(FIELDS), is_stale=st.booleans())
    def change_ticket(self, place: int, change: Row, is_stale: bool) -> None:
        place %= len(self.tickets)
        before = self.tickets[place]
        tag = f'"{before["version"]}.{self.customers[before["customer"]]["version"]}"'
        headers = {"if_match": '"0.0"' if is_stale else tag}
        response = self.key.patch(f"{TICKETS}/{before['id']}", change, **headers)
        if is_stale:
            assert (response.status_code, response.json()["current"]) == (412, tag)
        elif before["status"] == "closed" and change.get("status", "open") not in (
            "open",
            "closed",
        ):
            assert response.status_code == 409
        else:
            assert response.status_code == 200
            self.tickets[place] = moved(before, changed(before, change, "custom_fields"))

    @precondition(lambda self: self.tickets)
    @rule(place=PLACES, new=REPLIES)
    def reply(self, place: int, new: Row) -> None:
        place %= len(self.tickets)
        before = self.tickets[place]
        response = self.key.post(f"{TICKETS}/{before['id']}/replies", new)
        if before["status"] == "closed":
            assert (response.status_code, response.json()["code"]) == (409, "ticket_closed")
            return
        assert response.status_code == 201
        self.replies[place].append(response.json()["data"])
        after = before | {"version": before["version"] + 1}
        if not new.get("is_internal"):
            after["reply_count"] += 1
            if "author" not in new:
                after["is_answered"] = True
            elif before["status"] != "open":
                after = moved(before, after | {"status": "open"})
        self.tickets[place] = after

    @rule(query=some(FILTERS))
    def list_tickets(self, query: Row) -> None:
        found = [ticket for ticket in self.tickets if fits(ticket, query)]
        if query.get("sort") != "asc":
            found.reverse()
        parts = "&".join(f"{name}={value}" for name, value in query.items())
        rows = self.key.walk(f"{TICKETS}?{parts}" if parts else TICKETS, per_page=3)
        assert text([as_modelled(row) for row in rows]) == text([self.seen(row) for row in found])

    def teardown(self) -> None:
        """At the end, all data are as in the model."""
        self.list_tickets({})
        shown = self.key.walk(CUSTOMERS, per_page=100)
        names = ("id", "email", "name", "phone", "metadata", "version")
        known = [{name: row[name] for name in names} for row in shown]
        assert text(known) == text(self.customers[::-1])
        for ticket, replies in zip(self.tickets, self.replies, strict=True):
            assert self.key.walk(f"{TICKETS}/{ticket['id']}/replies?sort=asc", 100) == replies


def fits(ticket: Row, query: Row) -> bool:
    wanted = ticket | query
    return (
        ticket["status"] in wanted["status"].split(",")
        and ticket["priority"] in wanted["priority"].split(",")
        and ("tag" not in query or query["tag"] in ticket["tags"])
        and ticket["external_id"] == wanted["external_id"]
    )


def as_modelled(row: Row) -> Row:
    """What the model knows of a ticket that the API shows."""
    marks = {
        "is_answered": row["first_response_at"] is not None,
        "is_resolved": row["resolved_at"] is not None,
        "is_closed": row["closed_at"] is not None,
    }
    known = ("id", "subject", "status", "priority", "tags", "custom_fields", "external_id",
             "reply_count", "customer", "version")  # fmt: skip
    return {name: row[name] for name in known} | marks


def test_any_run_of_requests_leaves_what_the_model_says(service: Service) -> None:
    class Run(Model):
        pass

    Run.service = service
    bounds = settings(
        max_examples=examples(10),
        stateful_step_count=30,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    run_state_machine_as_test(Run, settings=bounds)
