"""What rooms declare for pages of other rooms; `routes/collected.py` collects it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec


class NavItem(NamedTuple):
    """An entry of the navigation bar. label: a message that each page translates."""

    path: str
    label: str
    is_for_all: bool = False


class Site(msgspec.Struct, frozen=True):
    """The pages of all rooms.

    navigation: what the bar links to. other_pages: paths of pages beside it, for all users.
    count_unread: how many notifications the user of a request has not read.
    count_failing_mailboxes: how many mailboxes of the caller's tenant do not work.
    template_packages: packages with a folder `templates`. field_labels: messages by the name of a
    form's field, for forms that a log-in or an error page shows again. form_labels: messages by the
    path of a form, with {id} for an id.
    """

    count_unread: Callable[[Any], Awaitable[int]]
    count_failing_mailboxes: Callable[[Any], Awaitable[int]]
    navigation: tuple[NavItem, ...]
    other_pages: tuple[str, ...]
    template_packages: tuple[str, ...]
    field_labels: Mapping[str, str]
    form_labels: Mapping[str, str]

    @property
    def home(self) -> str:
        """The path of the page that a log-in leads to."""
        return self.navigation[0].path
