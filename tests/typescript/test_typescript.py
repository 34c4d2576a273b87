"""The TypeScript client: current, strictly typed, tested against a live service, packed."""

import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import interop
from tests.interop import NODE
from tests.support.client import Key
from tests.support.databases import on_sqlite
from tests.support.receiver import LOOPBACK
from tests.typescript import runtimes
from tests.typescript.build import JAVASCRIPT, built, compile_types, node_modules, packed_build
from tests.typescript.sources import CLIENT, generated

_ROOT = CLIENT.parents[1]
_VECTORS = _ROOT / "tests" / "vectors" / "signatures.json"
_GUIDE = _ROOT / "docs" / "clients" / "typescript.md"


@pytest.fixture(scope="module")
def live_key(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    """A key with replay protection, of a service on SQLite."""
    with on_sqlite(template)(tmp_path_factory.mktemp("data"), **LOOPBACK) as service:
        yield service.tenant().key(name="Typed", replay_protection="writes")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project in which the packed client is installed."""
    place = tmp_path_factory.mktemp("project")
    interop.npm("pack", built(), "--pack-destination", str(place))
    (tarball,) = place.glob("*.tgz")
    (place / "package.json").write_text('{"private": true, "type": "module"}')
    interop.npm("install", place, "--offline", tarball.name)
    return place


def _strict() -> dict[str, object]:
    """The settings of a strict project of an integrator, with the types of Node."""
    options = {
        "strict": True,
        "noEmit": True,
        "target": "ES2022",
        "module": "NodeNext",
        "types": ["node"],
        "typeRoots": [str(node_modules() / "@types")],
    }
    return {"compilerOptions": options}


def _run(
    arguments: Sequence[str | Path],
    key: Key,
    cwd: Path,
    command: Sequence[str | Path] = (NODE,),
    variables: Mapping[str, str] | None = None,
) -> str:
    """The output of a runtime; fails with it if it ends with an error."""
    environment = {
        "PATH": os.environ["PATH"],
        "SEALDESK_API_URL": key.service.url,
        "SEALDESK_API_KEY": key.api_key,
        "SEALDESK_API_SECRET": key.api_secret,
        "SIGNATURE_VECTORS": str(_VECTORS),
        **(variables or {}),
    }
    done = subprocess.run(
        [*command, *arguments], cwd=cwd, env=environment,
        capture_output=True, text=True, timeout=3600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_sources_fit_the_openapi_document() -> None:
    made = generated(node_modules())
    stale = [path.name for path, text in made.items() if path.read_text() != text]
    assert stale == [], "run .venv/bin/python -m tests.typescript"


def test_its_own_tests_pass(live_key: Key) -> None:
    tests = sorted((built() / "test").glob("*.test.js"))
    _run(["--test", *tests], live_key, built())


@pytest.mark.prove
def test_it_works_with_a_live_service(live_key: Key) -> None:
    _run(["--test", built() / "test" / "live" / "live.test.js"], live_key, built())


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_100_000_random_requests_of_it_are_accepted(live_key: Key) -> None:
    # A tenant each, as all keys of a tenant share its limit; the rest is waited for.
    test = built() / "test" / "live" / "live.test.js"
    named: list[str | Path] = ["--test", "--test-name-pattern=whatever a URL may hold", test]

    def send(seed: int) -> None:
        key = live_key.service.tenant().key()
        drawn = {"RANDOM_SEED": str(seed), "RANDOM_REQUESTS": "25000"}
        assert "pass 1" in _run(named, key, built(), variables=drawn)

    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(send, range(1, 5)):
            pass


@pytest.mark.prove
def test_the_package_has_the_build_and_nothing_else(project: Path) -> None:
    (tarball,) = project.glob("*.tgz")
    with tarfile.open(tarball) as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
    assert {name for name in names if not name.startswith("dist/")} == {"package.json", "README.md"}
    assert {"dist/index.js", "dist/index.d.ts"} <= names
    assert tarball.stat().st_size < 100_000


def test_the_package_of_the_site_is_the_present_build() -> None:
    """If not: `python -m tests.typescript`."""
    assert {file.name: file.read_bytes() for file in JAVASCRIPT.iterdir()} == packed_build(built())


@pytest.mark.prove
def test_an_installed_package_sends_and_type_checks(project: Path, live_key: Key) -> None:
    """With a program of an integrator, and with those of the guide, which also run."""
    for name in ("run.mjs", "use.ts"):
        (project / name).write_bytes((CLIENT / "test" / "installed" / name).read_bytes())
    programs = re.findall(r"```ts\n(.*?)```", _GUIDE.read_text(), re.DOTALL)
    for number, program in enumerate(programs):
        (project / f"guide{number}.ts").write_text(program)
    (project / "tsconfig.json").write_text(json.dumps(_strict()))
    done = compile_types(project)
    assert done.returncode == 0, done.stdout
    assert _run(["run.mjs"], live_key, project) == "Typed\n"
    assert "Typed" in _run(["guide0.ts"], live_key, project)
    assert "Kettle leaks" in _run(["guide1.ts"], live_key, project)
    assert "not_found" in _run(["guide3.ts"], live_key, project)


@pytest.mark.prove
def test_deno_and_bun_run_its_tests(live_key: Key) -> None:
    deno = runtimes.find("@deno/linux-x64-glibc/deno")
    bun = runtimes.find("@oven/bun-linux-x64/bin/bun")
    live = f"{built()}/test/live/live.test.js"
    own = sorted(map(str, (built() / "test").glob("*.test.js")))
    commands: list[list[str | Path]] = [[deno, "test", "-A", "--no-check"], [bun, "test"]]
    for command in commands:
        _run([*own, live], live_key, built(), command=command)
