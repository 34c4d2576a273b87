"""Definitions of custom fields, made through the API as an administrator does."""

from typing import Any

from tests.support.client import Person

FIELDS = "/api/v1/custom-fields"


def define(admin: Person, key: str, kind: str = "text", **fields: Any) -> dict[str, Any]:
    """A new definition, as the answer shows it."""
    choices = {"choices": ["DHL", "UPS"]} if kind == "choice" else {}
    new = {"key": key, "label": key.title(), "type": kind, **choices, **fields}
    answer = admin.post(FIELDS, new)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])
