"""Pages are put together beside whatever else the process does."""

import asyncio

import pytest
from jinja2 import DictLoader, Environment

from sealdesk.web.pages import environment

_LONG = "{% for n in range(1000) %}{{ n }} {% endfor %}"


def test_a_long_page_lets_others_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Environment(loader=DictLoader({"long": _LONG}), autoescape=True)
    monkeypatch.setitem(environment._environments, (), made)
    monkeypatch.setattr(environment, "_MAX_SLICE_S", 0.0)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def both() -> str:
        beside = asyncio.create_task(others())
        page = await environment.render((), "long", {})
        beside.cancel()
        return page

    assert asyncio.run(both()) == "".join(f"{n} " for n in range(1000))
    assert turns > 10
