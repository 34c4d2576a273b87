"""Rendering does not block the event loop."""

import asyncio

import pytest
from jinja2 import DictLoader, Environment

from sealdesk.web.pages import environment

_LONG = "{% for n in range(1000) %}{{ n }} {% endfor %}"


def test_rendering_a_long_page_yields_to_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Environment(loader=DictLoader({"long": _LONG}), autoescape=True)
    monkeypatch.setitem(environment._environments, (), made)
    monkeypatch.setattr(environment, "_MAX_SLICE_S", 0.0)
    iterations = 0

    async def count_iterations() -> None:
        nonlocal iterations
        while True:
            iterations += 1
            await asyncio.sleep(0)

    async def render_and_count() -> str:
        beside = asyncio.create_task(count_iterations())
        page = await environment.render((), "long", {})
        beside.cancel()
        return page

    assert asyncio.run(render_and_count()) == "".join(f"{n} " for n in range(1000))
    assert iterations > 10
