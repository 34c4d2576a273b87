"""Which files may be attached, and how they are named, stored and shown; no I/O."""

import re
import unicodedata
from urllib.parse import quote

from sealdesk.resources.identity import is_visible
from sealdesk.settings import FileTypes
from sealdesk.tickets.attachments.types import Content

MAX_NAME_LENGTH = 255
MAX_PER_MESSAGE = 20
MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024  # SEALDESK_ATTACHMENT_MAX_MIB can only lower it
UNUSED_US = 24 * 3600 * 1_000_000  # how long an upload is kept that nothing refers to
LINK_US = 5 * 60 * 1_000_000
HEAD_BYTES = 16
DEFAULT_TYPE = "application/octet-stream"
FOLDER = "attachments"  # of the data directory, of a bucket, and of a backup
_STORED = re.compile(rf"{FOLDER}/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}})\.([0-9a-f-]{{36}})")
# RFC 6838, 4.2; lower case.
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
# Of RFC 5987, 3.2.1, without what needs care elsewhere.
_UNQUOTED = "!#$&+-.^_~"
# Control characters, and what changes the direction of text: `gnp.exe` could look like `exe.png`.
_REFUSED_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")


def fault_of_name(name: str) -> str:
    """What the name of a file must be instead, "" when it is right."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        return f"1 to {MAX_NAME_LENGTH} characters long"
    if not is_visible(name.replace(".", "")):
        return "more than dots and spaces"
    if "/" in name or "\\" in name:
        return "a name without a directory: without / and \\"
    if any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in name):
        return "without control characters and marks of direction"
    return ""


def path_of(content: Content) -> str:
    """Where bytes are stored, below the data directory, in a bucket, and in a backup.

    By their SHA-256 and their tenant: within a tenant equal contents are stored once, and no
    tenant can notice what another one has.
    """
    return f"{FOLDER}/{content.sha256[:2]}/{content.sha256}.{content.tenant_id}"


def content_at(path: str) -> Content | None:
    """What is stored at a path, None for a path that `path_of` does not give."""
    found = _STORED.fullmatch(path)
    return None if found is None else Content(found[3], found[2])


def ending_of(name: str) -> str:
    """The ending of a file's name in lower case, "" without one."""
    # Windows ignores dots and spaces at the end: "a.exe." is "a.exe".
    return name.rstrip(" .").rpartition(".")[2].lower() if "." in name.rstrip(" .") else ""


def is_allowed(name: str, types: FileTypes) -> bool:
    """Whether a file of this name may be attached."""
    return types.has(ending_of(name))


def media_type(declared: str) -> str:
    """The media type of a Content-Type header, without parameters."""
    found = declared.partition(";")[0].strip().lower()
    return found if _MEDIA_TYPE.fullmatch(found) else DEFAULT_TYPE


def image_type(head: bytes) -> str | None:
    """The type of an image that pages show, by the first bytes of the file."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def disposition(name: str) -> bytes:
    """The Content-Disposition of a file that is saved under this name (RFC 6266)."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in " ._-") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, _UNQUOTED)}".encode()
