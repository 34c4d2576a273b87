"""The wheel is reproducible, and works with the base dependencies alone."""

import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests import vectors
from tests.servers import free_port

_ROOT = Path(__file__).parents[2]
_SOURCES = ("pyproject.toml", "README.md", "CHANGELOG.md", ".gitignore", "hatch_build.py")
_NOT_IN_CHECKOUT = shutil.ignore_patterns(
    ".git", ".venv", "var", "build", "dist", "node_modules", "__pycache__", "*.msgpack", ".*_cache"
)
_PROGRAM = "import sys; from sealdesk.cli import main; sys.exit(main())"
_BASE = {
    re.split(r"[\[<>=]", each)[0]
    for each in tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
}


def _build(directory: Path, umask: int) -> dict[str, bytes]:
    """The files that a build in a copy of the checkout makes, by name."""
    shutil.copytree(_ROOT / "src", directory / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in _SOURCES:
        shutil.copyfile(_ROOT / name, directory / name)
    for number, file in enumerate(directory.rglob("*.py")):
        os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number + umask))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(directory / "dist")],
        cwd=directory,
        check=True,
        capture_output=True,
        umask=umask,
    )
    return {file.name: file.read_bytes() for file in (directory / "dist").iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("first") / "a"
    directory.mkdir()
    return _build(directory, 0o022)


@pytest.fixture(scope="module")
def wheel(built: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = next(name for name in built if name.endswith(".whl"))
    path = tmp_path_factory.mktemp("wheel") / name
    path.write_bytes(built[name])
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and its base dependencies only."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, symlinks=True)
    site = link_packages(_BASE, home)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return home / "bin" / "python"


def link_packages(names: set[str], home: Path) -> Path:
    """Put these packages and what they need into an environment; its site-packages."""
    (site,) = home.glob("lib/python*/site-packages")
    for name in _closure(names):
        for top in _top_level(name):
            if not (site / top.name).exists():
                (site / top.name).symlink_to(top)
    return site


def _closure(names: set[str]) -> set[str]:
    """The distributions with all that they need."""
    found: set[str] = set()
    left = set(names)
    while left:
        name = left.pop()
        found.add(name)
        for text in metadata.requires(name) or ():
            needed = re.split(r"[\s\[<>=!~;(]", text)[0]
            if "extra ==" not in text and needed not in found and _is_installed(needed):
                left.add(needed)
    return found


def _is_installed(name: str) -> bool:
    return next(iter(metadata.distributions(name=name)), None) is not None


def _top_level(name: str) -> Iterator[Path]:
    files = metadata.files(name) or []
    tops = {file.parts[0] for file in files if not file.parts[0].startswith("..")}
    for top in tops - {"__pycache__"}:
        yield Path(str(metadata.distribution(name).locate_file(top)))


def _run(python: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-c", _PROGRAM, *args],
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.prove
def test_two_builds_have_the_same_bytes(built: dict[str, bytes], tmp_path: Path) -> None:
    assert len(built) == 2
    again = _build(tmp_path, 0o077)
    assert {name: again[name] == content for name, content in built.items()} == dict.fromkeys(
        built, True
    )


@pytest.mark.prove
def test_a_build_makes_the_documentation(tmp_path: Path) -> None:
    shutil.copytree(_ROOT, tmp_path / "a", ignore=_NOT_IN_CHECKOUT)
    shutil.copytree(_ROOT / "clients", tmp_path / "a" / "clients", dirs_exist_ok=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=tmp_path / "a", check=True, capture_output=True)
    (wheel,) = (tmp_path / "a" / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        assert "sealdesk/web/documentation.msgpack" in archive.namelist()


def test_the_wheel_has_types_documentation_and_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = email.message_from_bytes(archive.read(about))
    for name in ("py.typed", "client/__init__.py", "web/documentation.msgpack"):
        assert f"sealdesk/{name}" in names
    sources = (_ROOT / "src").rglob("*")
    kinds = {".py", ".toml", ".html", ".css", ".js", ".mo", ".svg", ".woff2"}
    expected = {str(file.relative_to(_ROOT / "src")) for file in sources if file.suffix in kinds}
    assert expected - names == set()
    assert {"server", "bucket"} <= set(described.get_all("Provides-Extra", []))


@pytest.mark.prove
def test_the_base_dependencies_are_enough_for_integrators(python: Path) -> None:
    port = free_port()
    env = {
        "SEALDESK_API_KEY": vectors.API_KEY,
        "SEALDESK_API_SECRET": vectors.API_SECRET,
        "SEALDESK_API_URL": f"http://127.0.0.1:{port}",
    }
    shown = _run(python, "--help")
    assert (shown.returncode, "pipx install 'sealdesk[server]'" in shown.stdout) == (0, True)
    assert _run(python, "sign", "GET", "/x", **env).returncode == 0
    for args in (("call", "GET", "/x"), ("tickets", "list"), ("customers", "list")):
        unreachable = _run(python, *args, **env)
        assert (unreachable.returncode, unreachable.stdout) == (1, "")
        assert f"no response from http://127.0.0.1:{port}" in unreachable.stderr
    assert "the headers are missing" in _run(python, "webhooks", "verify").stderr
    assert _run(python, "webhooks", "listen", "--help").returncode == 0
    installed = _run(python, "tickets", "list").stderr
    assert "SEALDESK_API_KEY is not set" in installed


@pytest.mark.parametrize("name", ["demo", "keys"])
def test_a_command_of_the_service_says_what_to_install(python: Path, name: str) -> None:
    refused = _run(python, name, "create", "--port", "1")
    assert refused.returncode == 1
    assert f"`sealdesk {name}` runs the service" in refused.stderr
    assert "pipx install 'sealdesk[server]'" in refused.stderr


@pytest.fixture
def pipx(tmp_path: Path) -> Callable[..., Path]:
    """Installs by pipx, from PyPI, into a home of its own; the program that it makes."""
    venv.create(tmp_path / "pipx", with_pip=True)
    pip = [str(tmp_path / "pipx" / "bin" / "pip"), "install", "--quiet", "pipx==1.18.4"]
    subprocess.run(pip, check=True, capture_output=True)

    def install(what: str) -> Path:
        home = tmp_path / re.sub(r"\W", "", what)[-9:]
        places = {"PIPX_HOME": str(home), "PIPX_BIN_DIR": str(home / "bin"), "HOME": str(home)}
        done = subprocess.run(
            [tmp_path / "pipx" / "bin" / "pipx", "install", what],
            env={"PATH": os.environ["PATH"], "PIPX_MAN_DIR": str(home / "man"), **places},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return home / "bin" / "sealdesk"

    return install


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_pipx_installs_the_wheel_with_and_without_the_service(
    wheel: Path, pipx: Callable[..., Path], tmp_path: Path
) -> None:
    demo = _run_program(pipx(f"{wheel}[server]"), "demo", SEALDESK_DATA_DIR=str(tmp_path / "data"))
    assert (demo.returncode, "is ready" in demo.stdout) == (0, True), demo.stderr
    program = pipx(str(wheel))
    keys = {"SEALDESK_API_KEY": vectors.API_KEY, "SEALDESK_API_SECRET": vectors.API_SECRET}
    signed = _run_program(program, "sign", "GET", "/x", **keys)
    assert (signed.returncode, "x-api-signature" in signed.stdout) == (0, True), signed.stderr
    assert "SEALDESK_API_KEY is not set" in _run_program(program, "tickets", "list").stderr
    assert "pipx install 'sealdesk[server]'" in _run_program(program, "demo").stderr


def _run_program(program: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], **env}
    return subprocess.run([program, *args], env=env, capture_output=True, text=True, check=False)
