"""Where a run takes place."""

import os
import platform
import sqlite3
import statistics
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

from tests.servers import NotHere
from tests.servers.binaries import find_postgres

_PACKAGES = (
    "uvicorn",
    "httptools",
    "uvloop",
    "msgspec",
    "cryptography",
    "asyncpg",
    "SQLAlchemy",
    "FastAPI",
)
_FLUSHES = 50


def describe(data_dir: Path) -> dict[str, str]:
    """Name → what there is. `flush`: how long the disk takes to make 8 KiB durable."""
    kib = int(_first("/proc/meminfo", "MemTotal").split()[0])
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "CPU": f"{_first('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores",
        "memory": f"{kib / 1024 / 1024:.0f} GiB",
        "flush": f"{_flush_ms(data_dir):.2f} ms",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Linux": platform.release(),
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": _postgres(),
        **{name: version(name) for name in _PACKAGES},
    }


def _first(path: str, name: str) -> str:
    for line in Path(path).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "0 unknown"


def _postgres() -> str:
    try:
        program = find_postgres() / "postgres"
    except NotHere:
        return "none"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.split()[2]


def _flush_ms(directory: Path) -> float:
    path = directory / "flush"
    times_s = []
    with path.open("wb", buffering=0) as file:
        for _ in range(_FLUSHES):
            file.write(bytes(8192))
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times_s.append(time.perf_counter() - started)
    path.unlink()
    return statistics.median(times_s) * 1000
