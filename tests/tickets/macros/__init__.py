"""Macros: their API, their variables, their pages, and the composer."""

from typing import Any

from tests.support.client import Person

MACROS = "/api/v1/macros"


def new_macro(**fields: Any) -> dict[str, Any]:
    """The body of a request that creates a macro, whose name is like its shortcut."""
    name = str(fields.get("shortcut", "refund")).capitalize()
    return {"name": name, "shortcut": "refund", "body": "Hello", **fields}


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    """A new macro, as the answer shows it."""
    answer = admin.post(MACROS, new_macro(**fields))
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])
