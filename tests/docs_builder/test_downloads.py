"""The files of the page Downloads: what they contain, and that they work without the repository."""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from docs_builder import downloads
from docs_builder.site import ROOT

from sealdesk import __version__
from tests.packaging.test_packages import link_packages
from tests.support.client import Key
from tests.support.databases import on_sqlite

_ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `([0-9a-f]{64})` \|$", re.MULTILINE)
_PROGRAM = """
import json, sys
from sealdesk_client import AsyncDesk, Desk, error_codes, verify_webhook
with Desk(base_url=sys.argv[1], api_key=sys.argv[2], api_secret=sys.argv[3]) as desk:
    print(json.dumps([desk.whoami().name, [each for each in sys.modules if each == "sealdesk"]]))
"""


@pytest.fixture(scope="module")
def key(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    with on_sqlite(template)(tmp_path_factory.mktemp("data")) as service:
        yield service.tenant().key(name="Downloaded")


@pytest.fixture(scope="module")
def hashes(key: Key) -> dict[str, str]:
    """The SHA-256 of each file by its path, as the page has them."""
    return dict(_ROW.findall(httpx.get(f"{key.service.url}/docs/downloads.md", timeout=60).text))


def test_each_file_has_the_hash_of_the_page(key: Key, hashes: dict[str, str]) -> None:
    assert len(hashes) == 4
    for path, sha256 in hashes.items():
        for encoding in ("identity", "gzip"):
            got = httpx.get(
                f"{key.service.url}{path}", headers={"accept-encoding": encoding}, timeout=60
            )
            assert got.status_code == 200
            assert hashlib.sha256(got.content).hexdigest() == sha256


def test_the_downloaded_client_sends_a_signed_request_from_an_empty_environment(
    key: Key, hashes: dict[str, str], tmp_path: Path
) -> None:
    (path,) = (path for path in hashes if path.endswith(".whl"))
    venv.create(tmp_path, symlinks=True)
    python = tmp_path / "bin" / "python"
    url = f"sealdesk-client @ {key.service.url}{path}#sha256={hashes[path]}"
    install = ["-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", url]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    link_packages({"httpx", "msgspec"}, tmp_path)
    command = [str(python), "-c", _PROGRAM, key.service.url, key.api_key, key.api_secret]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["Downloaded", []]


def test_the_client_wheel_has_no_file_of_the_service() -> None:
    with zipfile.ZipFile(io.BytesIO(downloads.client_wheel())) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert tops == {"sealdesk_client", f"sealdesk_client-{__version__}.dist-info"}
    assert not any(re.search(r"^\s*(from|import) sealdesk\b", each, re.MULTILINE) for each in texts)
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert set(downloads.NEEDS) <= set(needed)


def test_the_npm_package_has_what_its_package_json_names() -> None:
    with tarfile.open(fileobj=io.BytesIO(downloads.npm_package())) as packed:
        names = set(packed.getnames())
    about = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text())
    exported = about["exports"]["."].values()
    assert {f"package/{path.removeprefix('./')}" for path in exported} <= names
    assert {"package/package.json", "package/README.md", "package/dist/schema.d.ts"} <= names


def test_two_builds_have_the_same_bytes() -> None:
    assert downloads.client_wheel() == downloads.client_wheel()
    assert downloads.npm_package() == downloads.npm_package()
