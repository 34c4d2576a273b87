"""What the checks of `sealdesk doctor` find out."""

from typing import Literal, NamedTuple

State = Literal["good", "note", "bad"]


class Finding(NamedTuple):
    """What was found out. A note is worth knowing, but nothing has to be done."""

    state: State
    about: str
    text: str
