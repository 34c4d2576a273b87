"""Creates keys through the API, and reads the faults of responses."""

from typing import Any

import httpx

from tests.support.client import Key, Person
from tests.support.service import Service

KEYS = "/api/v1/api-keys"


def create(admin: Person, **fields: Any) -> httpx.Response:
    return admin.post(KEYS, {"name": "Shop", **fields})


def made(admin: Person, **fields: Any) -> dict[str, Any]:
    response = create(admin, **fields)
    assert response.status_code == 201, response.text
    return dict(response.json()["data"])


def faults(response: httpx.Response) -> list[tuple[str, str]]:
    assert response.status_code == 422, response.text
    assert response.json()["code"] == "validation_failed"
    return [(fault["pointer"], fault["code"]) for fault in response.json()["errors"]]


def created_key(service: Service, created: dict[str, Any]) -> Key:
    """The key of a response that shows its secret."""
    return Key(service, created["id"], created["api_key"], created["api_secret"])
