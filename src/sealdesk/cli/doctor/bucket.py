"""The check of `sealdesk doctor` for a bucket of attachments."""

import asyncio
import ipaddress
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from sealdesk.cli.doctor.finding import Finding
from sealdesk.errors import ServiceUnavailable
from sealdesk.settings import BucketSettings, Settings

_REMEDY = "compare the settings SEALDESK_ATTACHMENT_… and the permissions of the key"


def check(settings: Settings) -> Iterator[Finding]:
    """Write, read, list and delete an object in the bucket, if the settings name one."""
    if settings.attachment_bucket is not None:
        yield _check_bucket(settings.attachment_bucket)


def _check_bucket(bucket: BucketSettings) -> Finding:
    # The room of tickets and the client take 80 ms to import, which other checks do not need.
    from sealdesk.tickets.attachments.bucket import Bucket

    started = time.perf_counter()
    try:
        asyncio.run(Bucket(bucket).try_out())
    except ServiceUnavailable as error:
        return Finding(
            "bad", "bucket", f"{bucket.name} at {bucket.endpoint}: {error.__cause__}; {_REMEDY}"
        )
    took_ms = (time.perf_counter() - started) * 1000
    text = (
        f"{bucket.name} at {bucket.endpoint} writes, reads, lists and deletes in {took_ms:.0f} ms"
    )
    if _is_in_the_clear(bucket):
        return Finding("note", "bucket", f"{text}; http:// does not encrypt attachments on the way")
    return Finding("good", "bucket", text)


def _is_in_the_clear(bucket: BucketSettings) -> bool:
    parts = urlsplit(bucket.endpoint)
    host = parts.hostname or ""
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    return parts.scheme == "http" and not is_here
