"""The structs of field definitions: as requested, as stored, and as shown."""

import re
from typing import Annotated, ClassVar, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.errors import Fault, gettext_noop
from sealdesk.ids import Id
from sealdesk.resources.identity import identity
from sealdesk.resources.representation import check_visible

FieldType = Literal["text", "number", "choice", "date", "checkbox"]
TYPES: tuple[FieldType, ...] = get_args(FieldType)
MAX_ACTIVE = 50
MAX_FIELDS = 200  # with those that are not active, whose keys stay taken
MAX_CHOICES = 100

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_NO_KEY = gettext_noop(
    "Write letters, digits, “_” and “-”, beginning with a letter, at most 64 characters."
)
_REPEATED = gettext_noop("This choice is there twice.")


def _check_key(text: str) -> list[Fault]:
    return [] if KEY.fullmatch(text) else [Fault("", "invalid_value", _NO_KEY)]


def _check_choices(choices: list[str]) -> list[Fault]:
    known = [*map(identity, choices)]
    places = (at for at, each in enumerate(known) if each in known[:at])
    return [Fault(f"/{at}", "repeated", _REPEATED) for at in places][:1]


Key = Annotated[str, Meta(extra={"check": _check_key}, extra_json_schema={"pattern": KEY.pattern})]
Label = Annotated[str, Meta(min_length=1, max_length=100, extra={"check": check_visible})]
Choice = Annotated[str, Meta(min_length=1, max_length=100, extra={"check": check_visible})]
Choices = Annotated[list[Choice], Meta(max_length=MAX_CHOICES, extra={"check": _check_choices})]
Position = Annotated[int, Meta(ge=1, le=MAX_FIELDS)]
# What others call the switch.
_MISTAKEN = dict.fromkeys("required mandatory".split(), "required_on_resolve")


class NewField(msgspec.Struct, frozen=True):
    """The body of a request that defines a custom field.

    key: the name of the value in `custom_fields` of tickets; unique regardless of case.
    choices: the values of a field of the type `choice`.
    required_on_resolve: whether a ticket needs a value before it can be resolved.
    position: among the fields of a ticket, the last by default.
    is_active: false hides the field and its checks.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "created_at", "updated_at"})
    MISTAKEN: ClassVar[dict[str, str]] = _MISTAKEN

    key: Key
    label: Label
    type: FieldType
    choices: Choices | None = None
    required_on_resolve: bool = False
    position: Position | None = None
    is_active: bool = True


class FieldChange(msgspec.Struct, frozen=True):
    """The body of a request that changes a definition; omitted fields do not change.

    choices: replace all of them; values that tickets have stay.
    is_active: false hides the field and ends its checks; the values of tickets stay.
    """

    MISTAKEN: ClassVar[dict[str, str]] = _MISTAKEN

    label: Label | UnsetType = UNSET
    choices: Choices | UnsetType = UNSET
    required_on_resolve: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    position: Position | UnsetType = UNSET


class Field(msgspec.Struct, frozen=True):
    """A definition as it is stored. place: in the order of the tenant, beginning with 0."""

    tenant_id: str
    id: str
    key: str
    label: str
    type: FieldType
    choices: tuple[str, ...]
    required_on_resolve: bool
    place: int
    is_active: bool
    created_at: int
    updated_at: int


class FieldResponse(msgspec.Struct, frozen=True):
    """A definition as the API shows it.

    key: the name of the value in `custom_fields` of tickets; never changes, and neither does type.
    position: among all definitions of the tenant, beginning with 1.
    """

    id: Id
    key: str
    label: str
    type: FieldType
    choices: tuple[str, ...]
    required_on_resolve: bool
    position: int
    is_active: bool
    created_at: Iso
    updated_at: Iso
