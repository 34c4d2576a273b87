"""One result of a check of `sealdesk doctor`."""

from typing import Literal, NamedTuple

State = Literal["good", "note", "bad"]


class Finding(NamedTuple):
    """The result of one check. state: "note" is worth knowing but needs no action."""

    state: State
    about: str
    text: str
