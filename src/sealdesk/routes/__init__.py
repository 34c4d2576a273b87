"""All routes, and what the rooms declare for the whole service."""

from sealdesk.routes.rooms import PROBLEM_TYPES, SITE
from sealdesk.routes.table import PAGES, ROUTES

__all__ = ["PAGES", "PROBLEM_TYPES", "ROUTES", "SITE"]
