"""What rooms declare for all pages; `routes.py` collects it."""

from typing import NamedTuple

import msgspec


class NavItem(NamedTuple):
    """An entry of the navigation bar. label: a message that each page translates."""

    path: str
    label: str
    is_for_all: bool = False


class Site(msgspec.Struct, frozen=True):
    """The navigation bar, and the packages of the rooms that have a folder `templates`."""

    navigation: tuple[NavItem, ...]
    template_packages: tuple[str, ...]

    @property
    def home(self) -> str:
        """The path of the page that a log-in leads to."""
        return self.navigation[0].path
