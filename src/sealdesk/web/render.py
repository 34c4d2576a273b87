"""Rendering templates: escaping by default, and how instants are written."""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_made: dict[str, "Environment"] = {}


async def page(room: str, template: str, values: dict[str, Any]) -> str:
    """A template of a room's package, or with "" of what all rooms share, as HTML."""
    if room not in _made:
        # Compiling all of a room's templates takes a tenth of a second: beside the request loop.
        _made[room] = await asyncio.to_thread(_environment, room)
    return _made[room].get_template(template).render(values)


def _environment(room: str) -> "Environment":
    # Late: only who serves pages pays for it, not every start.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    shared = PackageLoader("sealdesk.web", "templates/pages")
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(room), shared]) if room else shared,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["instant"] = _instant
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)
    return environment


def _instant(iso: str) -> str:
    """To the second in UTC, as people without scripts see it."""
    return iso[:19].replace("T", " ") + " UTC"
