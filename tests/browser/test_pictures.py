"""Pages look as their pictures do. `make pictures` takes them anew, to be looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import pictures, screenshots
from tests.support.service import Service

pytestmark = [pytest.mark.prove, pytest.mark.timeout(1200)]
Filled = tuple[Service, dict[str, str]]


@pytest.fixture(scope="module")
def filled(browser: Browser, template: Path) -> Iterator[Filled]:
    with screenshots.filled(browser, template) as found:
        yield found


@pytest.mark.parametrize(("theme", "size"), pictures.LOOKS)
def test_pages_look_as_before(
    browser: Browser, filled: Filled, theme: str, size: tuple[int, int], tmp_path: Path
) -> None:
    changed = pictures.find_changed(browser, *filled, theme, size)
    for each in changed:
        (tmp_path / f"{each.name}.webp").write_bytes(each.picture)
    said = [f"{each.share:.2%} of {each.name} has changed" for each in changed]
    assert not said, "\n".join([*said, f"as they look now: {tmp_path}"])
