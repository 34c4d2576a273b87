"""The program of a child process: runs functions on input that it reads from a pipe.

It is started without environment and with no descriptor but its pipes, so that what goes wrong
in here finds neither secrets nor the database.
"""

import importlib
import math
import os
import resource
import sys
import time
from typing import BinaryIO

from sealdesk.sandbox.protocol import REQUEST, RESPONSE, Kind

_MIB = 1024 * 1024
# Twenty times the largest message, whose parts are read as pieces of its bytes.
_MEMORY_BYTES = 512 * _MIB
_MAX_FILES = 32  # of modules while they are imported


def main() -> None:
    """Serve until the pool closes the pipe."""
    _limit(resource.RLIMIT_AS, _MEMORY_BYTES)
    _limit(resource.RLIMIT_NOFILE, _MAX_FILES)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    requests, responses = sys.stdin.buffer, _own_output()
    while head := requests.read(REQUEST.size):
        cpu_s, name_length, data_length = REQUEST.unpack(head)
        name = requests.read(name_length).decode()
        data = requests.read(data_length)
        _limit_processor_time(cpu_s)
        kind, result = _run(name, data)
        del data
        responses.write(RESPONSE.pack(kind, len(result)))
        responses.write(result)
        responses.flush()


def _limit(kind: int, most: int) -> None:
    resource.setrlimit(kind, (most, most))


def _own_output() -> BinaryIO:
    """The pipe to the pool; what a function prints goes nowhere."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return pipe


def _limit_processor_time(cpu_s: float) -> None:
    """The kernel ends the process when it has used so much more."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(time.process_time() + cpu_s)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _run(name: str, data: bytes) -> tuple[Kind, bytes]:
    module, _, function = name.partition(":")
    try:
        return Kind.RESULT, bytes(getattr(importlib.import_module(module), function)(data))
    except MemoryError:
        return Kind.OUT_OF_MEMORY, b""
    except Exception as error:
        return Kind.FAILED, type(error).__name__.encode()


if __name__ == "__main__":
    main()
