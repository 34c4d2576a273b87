"""Names in a body that its struct does not have: which are meant, and how the response tells."""

import difflib
from functools import cache
from typing import Any, get_args
from urllib.parse import quote

import msgspec

from sealdesk.errors import Fault
from sealdesk.web.faults import fields_of

_MAX_WARNINGS = 10
_MAX_WARNINGS_BYTES = 1024
_MAX_POINTER_LENGTH = 64
_MIN_TYPO = 6  # letters of a name that is known with one wrong, missing or further letter
# What other services call the switch of a rule, an endpoint or a field.
_STATES = ("is_active", "is_enabled", "is_paused")
_SWITCHED = "active inactive enabled enable disabled disable paused suspended".split()


def fault_of(pointer: str, struct: type[msgspec.Struct]) -> Fault:
    """The fault of a name that a struct does not have, with the one that is probably meant."""
    name = pointer.rpartition("/")[2]
    known = [field.name for field in fields_of(struct)]
    switch = meant(name, struct)
    near = [switch] if switch else difflib.get_close_matches(name[:64], known, 1)
    if not near:
        return Fault(pointer, "unknown_field", "There is no such field; check its spelling.")
    advice = near[0] if " " in near[0] else f"Did you mean `{near[0]}`?"
    return Fault(pointer, "unknown_field", "There is no such field. %(advice)s", {"advice": advice})


def read_only(name: str, struct: type[msgspec.Struct]) -> Fault:
    """The fault of a field with another value than the resource has, and what changes it if
    anything does."""
    found = meant(name, struct) or ""
    advice = found if " " in found else "Leave it out, or send the value that it has."
    text = "This field cannot be changed. %(advice)s"
    return Fault(f"/{name}", "read_only", text, {"advice": advice})


def meant(name: str, struct: type[msgspec.Struct]) -> str | None:
    """The field for which a name is mistaken, written in any way: `isInternal`, `is_interal`.

    It is another name or spelling of a boolean field, or one that the struct's MISTAKEN has with
    the right name or a sentence of advice, or has a part that is in MISTAKEN_PARTS.
    """
    mistaken, letters = _mistaken(struct), _letters(name[:64])
    found = [mistaken.get(form) for form in _forms(letters)]
    parts = getattr(struct, "MISTAKEN_PARTS", {}).items()
    found += [field for part, field in parts if part in letters]
    return next((each for each in found if each is not None), None)


@cache
def _mistaken(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The forms of names that are mistaken for a switch → its name, or advice if it has none."""
    switches = [each.name for each in msgspec.structs.fields(struct) if _is_switch(each.type)]
    state = next((each for each in switches if each in _STATES), None)
    names = dict.fromkeys(_SWITCHED, state) | {_letters(name): name for name in switches}
    names |= getattr(struct, "MISTAKEN", {})
    return {
        form: field for name, field in names.items() if field is not None for form in _forms(name)
    }


def _is_switch(declared: Any) -> bool:
    return declared is bool or bool in get_args(declared)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name)).lower().removeprefix("is")


def _forms(name: str) -> list[str]:
    """A name, and if it is long what is left without one of its letters: so a typo is found."""
    parts = range(len(name)) if len(name) >= _MIN_TYPO else ()
    return [name, *(name[:at] + name[at + 1 :] for at in parts)]


def warnings(pointers: list[str]) -> bytes:
    """At most 10 pointers in at most 1 KiB, percent-encoded for a header."""
    text = b""
    for pointer in pointers[:_MAX_WARNINGS]:
        shown = (
            pointer if len(pointer) <= _MAX_POINTER_LENGTH else f"{pointer[:_MAX_POINTER_LENGTH]}…"
        )
        part = b"unknown_field=" + quote(shown, safe="/~").encode()
        longer = text + b", " + part if text else part
        if len(longer) > _MAX_WARNINGS_BYTES:
            break
        text = longer
    return text
