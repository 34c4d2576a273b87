"""The webhooks of the document: each event type, with the schema of what is sent."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.web.openapi.headers import signature_headers
from sealdesk.web.openapi.schemas import KNOWN_VALUES, Schema, name_of, ref

_TAG = "Webhooks"
_EVENT_ID = "0199c0f2-6c3e-7a41-9d20-5b6c7d8e9f01"
_CHANGES = {
    "type": "object",
    "description": "The old and the new value of each field that changed; empty for new objects.",
    "additionalProperties": {"type": "array", "items": {}, "minItems": 2, "maxItems": 2},
}


class DocumentedEvent(NamedTuple):
    """An event type. when: completes "Sent when …". gives: an example of its object.

    changes: an example of what changed.
    """

    type: str
    when: str
    gives: msgspec.Struct
    changes: Mapping[str, list[Any]] = {}


def webhooks(events: Sequence[DocumentedEvent]) -> dict[str, Any]:
    """The section `webhooks`, by event type."""
    return {event.type: {"post": _operation(event)} for event in events}


def schemas(events: Sequence[DocumentedEvent]) -> dict[str, Schema]:
    """The schema of the events of each kind of object, as in `TicketEvent`."""
    types: dict[type[msgspec.Struct], list[str]] = {}
    for event in events:
        types.setdefault(type(event.gives), []).append(event.type)
    return {f"{name_of(struct)}Event": _schema(struct, names) for struct, names in types.items()}


def _schema(struct: type[msgspec.Struct], types: list[str]) -> Schema:
    data = {
        "type": "object",
        "properties": {"object": ref(struct), "changes": _CHANGES},
        "required": ["object", "changes"],
    }
    properties = {
        "id": {
            "type": "string",
            "format": "uuid",
            "description": "The same in each repetition, and in the header `webhook-id`.",
        },
        "type": {"type": "string", KNOWN_VALUES: types},
        "timestamp": {"type": "string", "format": "date-time"},
        "data": data,
    }
    return {
        "title": f"{name_of(struct)}Event",
        "description": "An event whose object is as the API showed it right after the change.",
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }


def _operation(event: DocumentedEvent) -> dict[str, Any]:
    example = {
        "id": _EVENT_ID,
        "type": event.type,
        "timestamp": "2026-03-02T09:31:12.190257Z",
        "data": {"object": msgspec.to_builtins(event.gives), "changes": event.changes},
    }
    schema = {"$ref": f"#/components/schemas/{name_of(type(event.gives))}Event"}
    return {
        "operationId": event.type.replace(".", "_"),
        "tags": [_TAG],
        "summary": event.type,
        "description": f"Sent when {event.when}.",
        "parameters": signature_headers(),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": example}},
        },
        "responses": {
            "2XX": {"description": "Received. Anything else is tried again for three days."},
            "410": {"description": "Disables the endpoint."},
        },
    }
