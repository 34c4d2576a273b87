"""What rooms declare for the whole service; `routes/rooms.py` lists the rooms."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import msgspec

import sealdesk

_SOURCE = Path(sealdesk.__file__).parent


class NavItem(NamedTuple):
    """An entry of the navigation. label: a message that each page translates.

    section: "main" is for all users, "lead" stands below it for administrators, and the others are
    sections of the settings: "installation" for `super_admin`, the rest for administrators.
    """

    path: str
    label: str
    section: Literal["main", "lead", "desk", "tickets", "developers", "installation"] = "tickets"


class Room(NamedTuple):
    """A row of the list of rooms.

    name: of the package in `sealdesk`, which may have a folder `templates`.
    errors: the module of its error codes. labels: the module with its ACTION_LABELS by audit
    action, FIELD_LABELS by the name of a form's field, and FORM_LABELS by the path of a form.
    path: of a page for all users that the navigation does not have.
    object_type: the first word of the audit actions on objects that have pages below the path.
    """

    name: str
    errors: ModuleType | None = None
    labels: ModuleType | None = None
    nav_item: NavItem | None = None
    path: str = ""
    object_type: str = ""


class Site(msgspec.Struct, frozen=True):
    """The pages of all rooms.

    navigation: the rooms that every page links to. other_pages: further paths, for all users.
    count_unread: how many notifications the user of a request has not read.
    count_failing_mailboxes: how many mailboxes of the caller's tenant do not work.
    list_leaving: the replies of the user of a request that can still be undone.
    list_beside: the views beside a page.
    template_packages: packages with a folder `templates`. field_labels: messages by the name of a
    form's field, for forms that a log-in or an error page shows again. form_labels: messages by the
    path of a form, with {id} for an id. action_labels: messages by audit action.
    object_paths: where objects have their pages, by the first word of their audit actions.
    """

    count_unread: Callable[[Any], Awaitable[int]]
    count_failing_mailboxes: Callable[[Any], Awaitable[int]]
    list_leaving: Callable[[Any], Awaitable[Sequence[Any]]]
    list_beside: Callable[[Any], Awaitable[object]]
    navigation: tuple[NavItem, ...]
    other_pages: tuple[str, ...]
    template_packages: tuple[str, ...]
    field_labels: Mapping[str, str]
    form_labels: Mapping[str, str]
    action_labels: Mapping[str, str]
    object_paths: Mapping[str, str]

    @property
    def home(self) -> str:
        """The path of the page that a log-in leads to."""
        return self.navigation[0].path


def make_site(
    rooms: Sequence[Room],
    *,
    count_unread: Callable[[Any], Awaitable[int]],
    count_failing_mailboxes: Callable[[Any], Awaitable[int]],
    list_leaving: Callable[[Any], Awaitable[Sequence[Any]]],
    list_beside: Callable[[Any], Awaitable[object]],
) -> Site:
    """The site of these rooms, in their order."""
    return Site(
        count_unread=count_unread,
        count_failing_mailboxes=count_failing_mailboxes,
        list_leaving=list_leaving,
        list_beside=list_beside,
        navigation=tuple(room.nav_item for room in rooms if room.nav_item),
        other_pages=tuple(room.path for room in rooms if room.path),
        template_packages=tuple(f"sealdesk.{room.name}" for room in rooms if _has_templates(room)),
        field_labels=_labels(rooms, "FIELD_LABELS"),
        form_labels=_labels(rooms, "FORM_LABELS"),
        action_labels=_labels(rooms, "ACTION_LABELS"),
        object_paths={
            room.object_type: room.nav_item.path if room.nav_item else room.path
            for room in rooms
            if room.object_type
        },
    )


def _has_templates(room: Room) -> bool:
    return (_SOURCE / room.name.replace(".", "/") / "templates").is_dir()


def _labels(rooms: Sequence[Room], name: str) -> dict[str, str]:
    return {key: label for room in rooms for key, label in getattr(room.labels, name, {}).items()}
