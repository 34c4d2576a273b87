"""The Jinja environment: escaping by default, filters, and rendering in slices."""

import asyncio
import time
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from sealdesk import clock
from sealdesk.resources.addresses import known_address
from sealdesk.web import assets
from sealdesk.web.pages import durations, i18n

if TYPE_CHECKING:
    from jinja2 import Environment, Template

SHARED = "shared"
_MAX_SLICE_S = 0.00025  # others wait so long for the next piece of another request
_PARTS_AT_ONCE = 8  # between two looks at the time; a part takes a few microseconds
_environments: dict[tuple[str, ...], "Environment"] = {}
_compiled: set[tuple[tuple[str, ...], str]] = set()


async def render(packages: tuple[str, ...], template: str, values: dict[str, Any]) -> str:
    """The HTML of a template. packages: see `create`."""
    return await _render_in_slices(await _load(packages, template), values)


async def is_in_frame(packages: tuple[str, ...], template: str) -> bool:
    """Whether a template is a page with the frame around its content, and no fragment."""
    return "content" in (await _load(packages, template)).blocks


async def _load(packages: tuple[str, ...], template: str) -> "Template":
    room = template.partition("/")[0]
    if (packages, room) not in _compiled:
        # Compiling a room's templates takes 0.1 s: not in the event loop.
        await asyncio.to_thread(_compile, packages, room)
        _compiled.add((packages, room))
    return _environments[packages].get_template(template)


async def _render_in_slices(template: "Template", values: dict[str, Any]) -> str:
    rendered, parts = [], template.generate(values)
    began_s = time.perf_counter()  # uvloop caches its own clock within an iteration
    while batch := [*islice(parts, _PARTS_AT_ONCE)]:
        rendered += batch
        if time.perf_counter() - began_s > _MAX_SLICE_S:
            await asyncio.sleep(0)
            began_s = time.perf_counter()
    return "".join(rendered)


def _compile(packages: tuple[str, ...], room: str) -> None:
    if packages not in _environments:
        _environments[packages] = create(packages)
    environment = _environments[packages]
    for name in environment.list_templates(extensions=["html"]):
        if name.partition("/")[0] in (room, SHARED):
            environment.get_template(name)


def create(packages: tuple[str, ...]) -> "Environment":
    """The environment of these packages; it compiles a template when it is first used.

    `tickets/inbox.html` is `templates/inbox.html` of the package `sealdesk.tickets`; `shared/`
    holds the templates of `web` that all rooms extend and import.
    """
    # Imported late: 15 ms that a start without pages saves (2026-11-22).
    from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined

    from sealdesk.web.pages.escaping import FastTemplate
    from sealdesk.web.pages.indentation import Unindented

    loaders = {package.rpartition(".")[2]: PackageLoader(package) for package in packages}
    loaders[SHARED] = PackageLoader("sealdesk.web", "templates/pages")
    environment = Environment(
        loader=PrefixLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,  # files may be replaced while we serve
        extensions=["jinja2.ext.i18n", Unindented],
        trim_blocks=True,
    )
    environment.template_class = FastTemplate
    environment.globals["asset"] = assets.address
    environment.globals["durations"] = durations.patterns
    environment.filters["duration"] = durations.duration_text
    environment.filters["instant"] = _instant
    environment.filters["minute"] = _minute
    # For messages in variables: `_` marks its result as safe HTML, this filter does not.
    environment.filters["translated"] = i18n.gettext
    environment.filters["number"] = i18n.number
    environment.filters["known_address"] = known_address
    environment.filters["customer_name"] = _customer_name
    environment.filters["json"] = _json
    environment.filters["json_attribute"] = _json_attribute
    environment.install_gettext_callables(  # type: ignore[attr-defined] # added by the extension
        i18n.gettext, i18n.ngettext, newstyle=True
    )
    environment.globals["_"] = environment.globals["gettext"] = _safe_message
    environment.policies["ext.i18n.trimmed"] = True
    return environment


def _safe_message(message: str, **values: object) -> str:
    """A translated message as safe HTML, its values escaped.

    A page has hundreds of messages; Jinja's own function looks each up and formats it.
    """
    if values:
        return _as_html(message, values)
    return _message_alone(i18n.active_language(), message)


@lru_cache(maxsize=4096)
def _message_alone(language: str, message: str) -> str:
    return _as_html(message, {})


def _as_html(message: str, values: dict[str, object]) -> str:
    # Imported late, as Jinja is.
    from markupsafe import Markup

    return Markup(i18n.gettext(message)) % values  # noqa: S704 # messages are ours


def _instant(iso: str) -> str:
    """To the second in UTC: what a browser without scripts shows."""
    return iso[:19].replace("T", " ") + " UTC"


def _customer_name(customer: Any) -> str:
    return customer.name or known_address(customer.email) or i18n.gettext("no e-mail address")


def _json(value: object) -> str:
    """Indented for people; Jinja's `tojson` is for scripts, and writes \\u0026 for "&"."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def _json_attribute(value: object) -> str:
    """For an attribute in single quotes: its own double quotes stay one byte each."""
    # Imported late, as Jinja is.
    from markupsafe import Markup

    text = msgspec.json.encode(value).decode()
    for each, entity in (("&", "&amp;"), ("'", "&#39;"), ("<", "&lt;")):
        text = text.replace(each, entity)
    return Markup(text)  # noqa: S704 # escaped above for its kind of attribute


def _minute(text: str) -> str:
    """An instant as the value of a datetime-local field; any other text unchanged."""
    at_us = clock.parse_instant(text)
    return text if at_us is None else clock.iso(at_us)[:16]
