"""What integrators take from the site: the clients as packages, a collection, the OpenAPI document.

The Python client has a name of its own, so that it can be installed beside the service's wheel.
"""

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from docs_builder.site import DOWNLOADS, ROOT, BrokenSite
from sealdesk import __version__

NEEDS = ("httpx>=0.28", "msgspec>=0.22")  # as in pyproject.toml
_SOURCE = ROOT / "src" / "sealdesk"
_TYPESCRIPT = ROOT / "clients" / "typescript"
_JAVASCRIPT = ROOT / "clients" / "javascript"  # made from it by `python -m tests.typescript`
_PACKAGE = "sealdesk_client"
_MODULES = {
    "sealdesk": f"{_PACKAGE}._version",
    "sealdesk.client": _PACKAGE,
    "sealdesk.crypto.signing": f"{_PACKAGE}._crypto.signing",
    "sealdesk.crypto.webhook_signing": f"{_PACKAGE}._crypto.webhook_signing",
    "sealdesk.crypto.diagnosis.serialisations": f"{_PACKAGE}._crypto.serialisations",
}
_IMPORT = re.compile(r"^( *)(from|import) (sealdesk[\w.]*)", re.MULTILINE)
_NPM_TIME = 499_162_500  # npm gives every file of a package this time
_ABOUT = f"{_PACKAGE}-{__version__}.dist-info"
_BINARY = "application/octet-stream"


class Download(NamedTuple):
    """A file of the page. url: its path. content_type: as it is served."""

    title: str
    url: str
    content: bytes
    content_type: str

    @property
    def sha256(self) -> str:
        """The hash of the file, in hex."""
        return hashlib.sha256(self.content).hexdigest()


def downloads(openapi: bytes) -> list[Download]:
    """All files. openapi: the document, which the service serves itself. Raises BrokenSite."""
    wheel = f"{DOWNLOADS}/{_PACKAGE}-{__version__}-py3-none-any.whl"
    collection = "sealdesk.postman_collection.json"
    text = (ROOT / "clients" / "postman" / collection).read_bytes()
    return [
        Download("Client for Python", wheel, client_wheel(), _BINARY),
        Download(
            "Client for JavaScript and TypeScript",
            f"{DOWNLOADS}/sealdesk-{__version__}.tgz",
            npm_package(),
            _BINARY,
        ),
        Download("Postman collection", f"{DOWNLOADS}/{collection}", text, "application/json"),
        Download("OpenAPI document", "/openapi.json", openapi, "application/json"),
    ]


def page(found: list[Download]) -> str:
    """The Markdown of the page."""
    python, npm, _, _ = found
    rows = "\n".join(f"| {each.title} | `{each.url}` | `{each.sha256}` |" for each in found)
    text = (Path(__file__).parent / "templates" / "downloads.md").read_text()
    return (
        text.replace("{rows}", rows)
        .replace("{python}", f"{python.url}#sha256={python.sha256}")
        .replace("{npm}", npm.url)
        .replace("{npm_file}", npm.url.rpartition("/")[2])
        .replace("{checksum}", f"{npm.sha256}  {npm.url.rpartition('/')[2]}")
    )


def client_wheel() -> bytes:
    """A wheel of the Python client and nothing of the service. Raises BrokenSite."""
    files = {path: text.encode() for path, text in sorted(_client_files())}
    files[f"{_ABOUT}/METADATA"] = _metadata().encode()
    files[f"{_ABOUT}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: sealdesk\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{_ABOUT}/RECORD"] = _record(files).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            about = zipfile.ZipInfo(path)  # of 1980: the same files give the same bytes
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(about, content)
    return packed.getvalue()


def npm_package() -> bytes:
    """The package as `npm pack` makes it."""
    files = {name: (_TYPESCRIPT / name).read_bytes() for name in ("README.md", "package.json")}
    for path in _JAVASCRIPT.iterdir():
        files[f"dist/{path.name}"] = path.read_bytes()
    # The build would only repeat it: it has types alone.
    files["dist/schema.d.ts"] = (_TYPESCRIPT / "src" / "schema.ts").read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in sorted(files.items()):
            about = tarfile.TarInfo(f"package/{name}")
            about.size, about.mtime = len(content), _NPM_TIME
            archive.addfile(about, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def _client_files() -> Iterator[tuple[str, str]]:
    yield f"{_PACKAGE}/py.typed", ""
    yield f"{_PACKAGE}/_crypto/__init__.py", '"""Signs requests and verifies webhooks."""\n'
    yield f"{_PACKAGE}/_version.py", (_SOURCE / "__init__.py").read_text()
    for module, name in _MODULES.items():
        if module.startswith("sealdesk.crypto"):
            path = ROOT / "src" / f"{module.replace('.', '/')}.py"
            yield f"{name.replace('.', '/')}.py", _renamed(path)
    client = _SOURCE / "client"
    for path in client.rglob("*.py"):
        yield f"{_PACKAGE}/{path.relative_to(client).as_posix()}", _renamed(path)


def _renamed(path: Path) -> str:
    """The text of a module with the names of the client's package in its imports."""

    def rename(found: re.Match[str]) -> str:
        indent, word, module = found.groups()
        client = module.startswith("sealdesk.client.")
        known = "sealdesk.client" if client else module
        if known not in _MODULES:
            raise BrokenSite(f"{path.name}: the client for integrators cannot import {module}")
        return f"{indent}{word} {_MODULES[known]}{module.removeprefix(known)}"

    return _IMPORT.sub(rename, path.read_text())


def _metadata() -> str:
    needs = "".join(f"Requires-Dist: {each}\n" for each in NEEDS)
    return (
        f"Metadata-Version: 2.1\nName: sealdesk-client\nVersion: {__version__}\n"
        f"Summary: The client of Sealdesk\nRequires-Python: >=3.11\n{needs}"
    )


def _record(files: Mapping[str, bytes]) -> str:
    rows = [
        f"{path},sha256={_urlsafe(hashlib.sha256(content).digest())},{len(content)}\n"
        for path, content in files.items()
    ]
    return "".join([*rows, f"{_ABOUT}/RECORD,,\n"])


def _urlsafe(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
