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


def validator(schema: dict[str, Any]) -> Any:
    """Validates values with a schema of OpenAPI 3.1, formats included."""
    # Imported late: it takes 0.2 s, in each process that collects tests.
    from openapi_schema_validator import OAS31Validator, oas31_format_checker

    return OAS31Validator(schema, format_checker=oas31_format_checker)


def check_document(document: Any) -> None:
    """Raises an error that names what is no OpenAPI."""
    from openapi_spec_validator import validate  # imported late, like the other one

    validate(document)
