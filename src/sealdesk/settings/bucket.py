"""The settings of an S3-compatible bucket for attachments."""

import importlib.util
import re
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from sealdesk.settings.env_reader import EnvReader

_PREFIX = "SEALDESK_ATTACHMENT_"
_SECRET_FILE = "bucket.secret"  # noqa: S105 - the name of a file
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_REGION = re.compile(r"[a-z0-9-]{1,40}")
_KEY_ID = re.compile(r"[!-~]{1,128}")
_SECRET = re.compile(r"[!-~]{8,256}")


class BucketSettings(msgspec.Struct, frozen=True):
    """Where a bucket is, and the key to it.

    endpoint: scheme and host, without the bucket. has_bucket_in_path: otherwise the name of the
    bucket is the first label of the host.
    """

    name: str
    endpoint: str
    region: str
    key_id: str
    secret: str
    has_bucket_in_path: bool

    def __repr__(self) -> str:
        return f"BucketSettings(name={self.name!r}, endpoint={self.endpoint!r}, …)"

    @property
    def url(self) -> str:
        """The URL that requests to the bucket begin with, as the client wants it."""
        if self.has_bucket_in_path:
            return self.endpoint
        scheme, _, host = self.endpoint.partition("://")
        return f"{scheme}://{self.name}.{host}"


def read_bucket(read: EnvReader, data_dir: Path) -> BucketSettings | None:
    """The bucket that the environment names, None when attachments are in the data directory."""
    name = read.text(f"{_PREFIX}BUCKET", _NAME, "the name of a bucket: lower-case, 3 to 63 long")
    region = read.text(f"{_PREFIX}REGION", _REGION, "a region, as in eu-central-1")
    region = region or "us-east-1"
    endpoint = read.url(f"{_PREFIX}ENDPOINT", _is_endpoint, "https://host or https://host:port")
    key_id = read.text(f"{_PREFIX}KEY_ID", _KEY_ID, "the id of an access key")
    # Without a bucket the file is not read: who may not read it gets a word about the database.
    file = data_dir / _SECRET_FILE if name else None
    secret = read.text(f"{_PREFIX}SECRET", _SECRET, "the secret of an access key", file=file)
    addressing = read.choice(f"{_PREFIX}ADDRESSING", "path", "host")
    if not name:
        return None
    if not (key_id and secret):
        read.refuse(
            f"{_PREFIX}BUCKET needs {_PREFIX}KEY_ID, and {_PREFIX}SECRET or the file"
            f" {data_dir / _SECRET_FILE}"
        )
    if importlib.util.find_spec("obstore") is None:
        read.refuse(
            f"{_PREFIX}BUCKET needs the package obstore; install it with"
            " `deploy/install.sh DIRECTORY bucket`"
        )
    endpoint = endpoint.rstrip("/") or f"https://s3.{region}.amazonaws.com"
    return BucketSettings(name, endpoint, region, key_id, secret, addressing == "path")


def _is_endpoint(url: str) -> bool:
    parts = urlsplit(url)
    is_bare = parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_bare
