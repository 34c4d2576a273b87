"""What the pool and its children write to each other: a head, and bytes after it."""

import struct
from enum import IntEnum

# To a child: seconds of processor time, length of the function's name, length of the input.
REQUEST = struct.Struct("!dIQ")
# From a child: the kind of its answer, length of the result.
RESPONSE = struct.Struct("!BQ")


class Kind(IntEnum):
    """What a child answers with."""

    RESULT = 0
    FAILED = 1  # the function raised; the answer names the class of the exception
    OUT_OF_MEMORY = 2
