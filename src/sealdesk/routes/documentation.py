"""The routes of the documentation site, whose files are looked up by their whole path."""

from sealdesk.web.documentation import serve_documentation
from sealdesk.web.operation import Open, Route

_PATHS = (
    "/docs",
    "/docs.md",
    "/docs/{page}",
    "/docs/{folder}/{page}",
    "/llms.txt",
    "/llms-full.txt",
)

DOCUMENTATION: tuple[Route, ...] = tuple(
    Route("GET", path, Open(), serve_documentation, takes_names=True) for path in _PATHS
)
