"""The OpenAPI document, without a service."""

from functools import cache
from typing import Any

from sealdesk.routes import PROBLEM_TYPES, ROUTES
from sealdesk.routes.documented_events import DOCUMENTED_EVENTS
from sealdesk.web.openapi.document import document


@cache
def openapi_document() -> dict[str, Any]:
    """The document that the service serves."""
    return document(ROUTES, PROBLEM_TYPES, DOCUMENTED_EVENTS)
