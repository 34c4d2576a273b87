"""The templates of all rooms as Jinja's syntax trees."""

from collections.abc import Iterator
from functools import cache

from jinja2 import Environment, nodes

from sealdesk.routes import SITE
from sealdesk.web.pages import environment
from tests.i18n.catalogues import SOURCE

_MARKS_SAFE = ("_", "gettext", "ngettext")


def trees() -> Iterator[tuple[str, nodes.Template]]:
    """All templates of pages: path below the source, and syntax tree."""
    for path in sorted(SOURCE.rglob("templates/**/*.html")):
        yield str(path.relative_to(SOURCE)), _environment().parse(path.read_text())


def variable_messages() -> list[str]:
    """Where templates pass a variable to `_`, which marks its result as safe HTML."""
    return [
        f"{file}:{call.lineno}"
        for file, tree in trees()
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in _MARKS_SAFE
        if not isinstance(call.args[0], nodes.Const)
    ]


@cache
def _environment() -> Environment:
    return environment.create(SITE.template_packages)
