"""The tags of operations, which are the sections of the reference, and the document of each."""

from collections.abc import Iterator
from typing import Any

TAGS = {
    "Tickets": "Support requests of customers, from open to closed.",
    "Replies": "Public replies and internal notes on a ticket.",
    "Attachments": "Files of tickets and replies.",
    "Customers": "The people who open tickets; an e-mail address is unique within the tenant.",
    "Reports": "What happened to tickets in a period, counted.",
    "Events": "All changes in order, for integrations that follow them.",
    "API keys": "For administrators: the keys of the external API, their permissions and limits.",
    "Teams": "For administrators: teams, their members, and how their tickets are assigned.",
    "Webhooks": "For administrators: the endpoints that receive events, and their deliveries.",
    "Mailboxes": "For administrators: addresses that receive and send, and blocked senders.",
    "Custom fields": "For administrators: the fields that tickets have besides the built-in ones.",
    "Macros": "For administrators: canned replies, and what they set on a ticket.",
    "Rules": "For administrators: what the desk does with tickets by itself.",
    "SLA policies": "For administrators: by when the desk promises to answer and to resolve.",
    "Log-in": "Access tokens and passwords of users.",
    "Basics": "The first requests to make, and monitoring for operators.",
}
Json = dict[str, Any]
_COMPONENTS = "#/components/"


def path_of_tag(tag: str) -> str:
    """The path of the document of a tag: `/openapi/api-keys.json`."""
    return f"/openapi/{tag.lower().replace(' ', '-')}.json"


def of_tag(document: Json, tag: str) -> Json:
    """The part of the document that describes the operations and webhooks of a tag."""
    paths = _paths(document["paths"], tag)
    names = {operation["operationId"] for item in paths.values() for operation in item.values()}
    described = {path: _with_links_to(item, names) for path, item in paths.items()}
    sections = {"paths": described, "webhooks": _paths(document["webhooks"], tag)}
    schemes = document["components"]["securitySchemes"]
    return {
        **document,
        "info": document["info"] | {"title": f"{document['info']['title']}: {tag}"},
        "tags": [each for each in document["tags"] if each["name"] == tag],
        **sections,
        "components": _components(document["components"], sections) | {"securitySchemes": schemes},
    }


def _paths(paths: Json, tag: str) -> Json:
    found = {
        path: {method: each for method, each in item.items() if tag in each["tags"]}
        for path, item in paths.items()
    }
    return {path: item for path, item in found.items() if item}


def _with_links_to(item: Json, names: set[str]) -> Json:
    return {method: _operation_with_links_to(each, names) for method, each in item.items()}


def _operation_with_links_to(operation: Json, names: set[str]) -> Json:
    responses = {}
    for status, response in operation["responses"].items():
        links = {
            name: link
            for name, link in response.get("links", {}).items()
            if link["operationId"] in names
        }
        others = {name: part for name, part in response.items() if name != "links"}
        responses[status] = others | ({"links": links} if links else {})
    return operation | {"responses": responses}


def _components(components: Json, root: Json) -> Json:
    """The components that `root` refers to, and those that they refer to."""
    found: dict[str, Json] = {}
    waiting = [*_references(root)]
    while waiting:
        kind, name = waiting.pop()
        if name not in found.setdefault(kind, {}):
            found[kind][name] = components[kind][name]
            waiting += _references(components[kind][name])
    return {
        kind: {name: part for name, part in components[kind].items() if name in names}
        for kind, names in found.items()
    }


def _references(part: Any) -> Iterator[tuple[str, str]]:
    """(kind, name) of each component that is named, also as the members of a problem."""
    if isinstance(part, str) and part.startswith(_COMPONENTS):
        kind, _, name = part.removeprefix(_COMPONENTS).partition("/")
        yield kind, name
    elif isinstance(part, dict):
        for inner in part.values():
            yield from _references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _references(inner)
