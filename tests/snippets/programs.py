"""Runs the programs of docs/snippets as a reader would; those of Go and Java are compiled once."""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sealdesk.web.snippets import Snippet
from tests.interop import NODE
from tests.servers.binaries import find
from tests.snippets import SOURCE

_CACHE = Path(sys.prefix) / "snippets"
_GO = {"GOCACHE": str(_CACHE / "go-cache"), "CGO_ENABLED": "0", "GOFLAGS": ""}
# No optimising compiler for programs of 300 ms.
_FAST_JAVA = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
_JAVA = {"JDK_JAVA_OPTIONS": " ".join(_FAST_JAVA)}
_COMPILING_S = 300  # a machine ten times slower than the measured one: 30 s for Go's library


def run(
    snippet: Snippet, arguments: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """The finished program. Raises NotHere if this machine lacks its language."""
    command = [*_command(snippet), *arguments]
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment}
    return subprocess.run(
        command, env=env, capture_output=True, check=False, encoding="utf-8", timeout=300
    )


def environment_of(snippet: Snippet, environ: Mapping[str, str]) -> dict[str, str]:
    """The PATH on which a shell finds the language, and what starts it fast. Raises NotHere."""
    found = {".py": Path(sys.executable), ".mjs": NODE, ".sh": Path("/bin/sh")}
    suffix = Path(snippet.file).suffix
    program = found[suffix] if suffix in found else find(snippet.name)
    return {"PATH": f"{program.parent}{os.pathsep}{environ['PATH']}", **_GO, **_JAVA}


def _command(snippet: Snippet) -> list[str]:
    source = SOURCE / snippet.file
    match source.suffix:
        case ".sh":
            return ["sh", str(source)]
        case ".py":
            return [sys.executable, str(source)]
        case ".mjs":
            return [str(NODE), str(source)]
        case ".go":
            return [str(_compiled(source, "go") / "call")]
        case ".java":
            java = find("java").with_name("java")
            return [str(java), *_FAST_JAVA, "-cp", str(_compiled(source, "java")), "Sealdesk"]
        case _:
            return [str(find(snippet.name)), str(source)]


def _compiled(source: Path, language: str) -> Path:
    """The directory with the compiled program, which the processes of the tests share."""
    compiler = find(language)
    place = _CACHE / f"{language}-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / ".done").exists():
            _compile(compiler, source, place)
            (place / ".done").touch()
    return place


def _compile(compiler: Path, source: Path, place: Path) -> None:
    build = ["build", "-o", str(place / "call"), str(source)]
    command = build if compiler.name == "go" else ["-d", str(place), str(source)]
    subprocess.run(
        [compiler, *command],
        env={**os.environ, **_GO},
        check=True,
        capture_output=True,
        timeout=_COMPILING_S,
    )
