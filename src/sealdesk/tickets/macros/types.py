"""The structs of macros: as requested, as stored, and as shown."""

import re
import unicodedata
from typing import Annotated, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.errors import Fault, gettext_noop
from sealdesk.ids import Id
from sealdesk.resources.identity import is_visible
from sealdesk.resources.representation import check_visible
from sealdesk.tickets.macros.variables import check_variables
from sealdesk.tickets.ticket.types import AttachmentRef, Priority, ReplyBody, Status, Tags

ME = "me"  # as an assignee: who uses the macro
_SHORTCUT = re.compile(r"\w[\w-]*")
_JOINERS = "\u200c\u200d"
_NOT_A_SHORTCUT = gettext_noop("Use letters, digits, - and _ only, without the semicolon.")


def _check_shortcut(text: str) -> list[Fault]:
    # Decomposed letters and the vowels of Hindi and Thai are marks, which no \w matches. Joiners
    # belong to Persian words.
    letters = "".join(
        each for each in text if unicodedata.category(each)[0] != "M" and each not in _JOINERS
    )
    is_one = _SHORTCUT.fullmatch(letters) and text[0] == letters[0] and is_visible(text)
    return [] if is_one else [Fault("", "invalid_shortcut", _NOT_A_SHORTCUT)]


def _check_text(text: str) -> list[Fault]:
    return check_visible(text) or check_variables(text)


def split_folders(name: str) -> list[str]:
    """`Returns::Refund` is the macro Refund in the folder Returns."""
    return [part for each in name.split("::") if (part := each.strip())] or [name]


MacroName = Annotated[str, Meta(min_length=1, max_length=100, extra={"check": check_visible})]
Shortcut = Annotated[str, Meta(min_length=1, max_length=32, extra={"check": _check_shortcut})]
MacroBody = Annotated[str, Meta(max_length=65536, extra={"check": check_variables})]
MacroText = Annotated[
    str, Meta(min_length=1, max_length=65536, extra={"check": _check_text})
]  # of a rule, which sends it
# Personal macros are made on the pages. What rules and selected tickets get of a macro goes to
# customers.
_MISTAKEN = dict.fromkeys(
    (*ReplyBody.MISTAKEN, "personal", "restriction", "ownerid", "userid"),
    "A macro of the API is for everybody of the desk, and its text is a public reply.",
)


class NewMacro(msgspec.Struct, frozen=True):
    """The body of a request that creates a macro.

    name: `Returns::Refund` is in the folder Returns.
    shortcut: letters, digits, `-` and `_`, of one macro only, whatever their case.
    body: Markdown with variables; may be left out if the macro sets a field.
    assignee_id: an active user, or `me` for who uses the macro.
    team_id: a team of the desk.
    tags: added to those of the ticket.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "created_at", "updated_at"})
    MISTAKEN: ClassVar[dict[str, str]] = _MISTAKEN

    name: MacroName
    shortcut: Shortcut
    body: MacroBody = ""
    status: Status | None = None
    priority: Priority | None = None
    assignee_id: str | None = None
    team_id: str | None = None
    tags: Tags | None = None


class MacroChange(msgspec.Struct, frozen=True):
    """A merge patch of a macro: fields left out stay as they are, null clears."""

    MISTAKEN: ClassVar[dict[str, str]] = _MISTAKEN

    name: MacroName | UnsetType = UNSET
    shortcut: Shortcut | UnsetType = UNSET
    body: MacroBody | UnsetType = UNSET
    status: Status | UnsetType | None = UNSET
    priority: Priority | UnsetType | None = UNSET
    assignee_id: str | UnsetType | None = UNSET
    team_id: str | UnsetType | None = UNSET
    tags: Tags | UnsetType | None = UNSET


class MacroFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a macro that the API shows as they are stored.

    shortcut: typed in the composer after a semicolon.
    body: Markdown with variables, "" if the macro writes nothing.
    status: null if the macro leaves it as it is; so are priority, assignee_id
    and team_id.
    assignee_id: a user, or `me` for who uses the macro.
    tags: added to those of the ticket.
    """

    id: Id
    name: str
    shortcut: str
    body: str
    status: Status | None
    priority: Priority | None
    assignee_id: str | None
    team_id: str | None
    tags: tuple[str, ...]


class Macro(MacroFields, frozen=True, kw_only=True):
    """A macro as it is stored, with times in microseconds.

    owner_id: a user or a team, "" for the desk.
    """

    tenant_id: str
    owner_id: str = ""
    created_at: int
    updated_at: int


class MacroResponse(MacroFields, frozen=True, kw_only=True):
    """A macro as the API shows it."""

    created_at: Iso
    updated_at: Iso


class Reader(NamedTuple):
    """Who sees macros: those of the desk, the own ones, and those of the own or of all teams."""

    user_id: str = ""
    of_all_teams: bool = False


OF_THE_DESK = Reader()


class MacroChoice(NamedTuple):
    """A macro in a list to choose from."""

    id: str
    name: str
    shortcut: str

    @property
    def label(self) -> str:
        """The name with its folders, as people read them."""
        return " / ".join(split_folders(self.name))


class AppliedMacro(NamedTuple):
    """What a macro does to a ticket. text: of the reply. tags: that are added to ticket_tags.

    files: that the reply gets copies of.
    status, priority, assignee_id, team_id: "" where the ticket stays as it is. is_assignee_missing:
    whether the assignee was deactivated, so that nobody is assigned. is_team_missing: whether the
    team was deleted.
    """

    macro: Macro
    text: str
    status: str
    priority: str
    assignee_id: str
    assignee_name: str
    team_id: str
    team_name: str
    tags: tuple[str, ...]
    ticket_tags: tuple[str, ...]
    is_assignee_missing: bool
    is_team_missing: bool
    files: tuple[AttachmentRef, ...] = ()
