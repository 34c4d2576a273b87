"""Rendering templates: escaping by default, and how instants are written."""

import asyncio
import time
from typing import TYPE_CHECKING, Any

import msgspec

from sealdesk import clock
from sealdesk.web.pages import i18n

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_made: dict[str, "Environment"] = {}
_HELD_S = 0.002  # an inbox of 50 tickets is put together in 3 to 4 ms


async def page(room: str, template: str, values: dict[str, Any]) -> str:
    """A template of a room's package, or with "" of what all rooms share, as HTML."""
    environment = _made.get(room)
    if environment is None:
        # Compiling all of a room's templates takes a tenth of a second: beside the request loop.
        environment = await asyncio.to_thread(environment_of, room)
        _made[room] = environment
    return await _rendered(environment.get_template(template), values)


async def _rendered(template: "Template", values: dict[str, Any]) -> str:
    """The page; whatever else waits for the request loop has its turn meanwhile."""
    parts = []
    began_s = time.perf_counter()  # uvloop's own clock stands still within a turn
    for part in template.generate(values):
        parts.append(part)
        if time.perf_counter() - began_s > _HELD_S:
            await asyncio.sleep(0)
            began_s = time.perf_counter()
    return "".join(parts)


def environment_of(room: str) -> "Environment":
    """The templates of a room's package, compiled."""
    # Late: only who serves pages pays for it, not every start.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    shared = PackageLoader("sealdesk.web", "templates/pages")
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(room), shared]) if room else shared,
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["instant"] = _instant
    environment.filters["minute"] = _minute
    # For texts out of variables: unlike `_`, which takes what it says for HTML of ours.
    environment.filters["said"] = i18n.gettext
    environment.filters["number"] = i18n.number
    environment.filters["json"] = _json
    environment.install_gettext_callables(  # type: ignore[attr-defined] # added by the extension
        i18n.gettext, i18n.ngettext, newstyle=True
    )
    environment.policies["ext.i18n.trimmed"] = True
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)
    return environment


def _instant(iso: str) -> str:
    """To the second in UTC, as people without scripts see it."""
    return iso[:19].replace("T", " ") + " UTC"


def _json(value: object) -> str:
    """As people read it; Jinja's `tojson` is for scripts, and writes \\u0026 for "&"."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def _minute(text: str) -> str:
    """An instant as fields for it take it: in UTC, to the minute; else what was typed."""
    at_us = clock.parse_instant(text)
    return text if at_us is None else clock.iso(at_us)[:16]
