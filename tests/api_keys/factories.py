"""Making keys as an administrator does, and reading what was wrong."""

from typing import Any

import httpx

from tests.support.client import Person

KEYS = "/api/v1/api-keys"


def create(admin: Person, **fields: Any) -> httpx.Response:
    return admin.post(KEYS, {"name": "Shop", **fields})


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    answer = create(admin, **fields)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def faults(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "validation_failed"
    return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]
