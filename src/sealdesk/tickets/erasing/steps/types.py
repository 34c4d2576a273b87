"""What a step of an erasure has done."""

from typing import NamedTuple


class Done(NamedTuple):
    """cursor: the last row that is done, None when nothing is left of the stage.

    tickets: how many were erased. is_waiting: nothing could be done yet. texts: what names the
    person, if more was found.
    """

    cursor: str | None
    tickets: int = 0
    is_waiting: bool = False
    texts: tuple[str, ...] = ()


FINISHED = Done(None)
