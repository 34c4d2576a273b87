"""Names of attached files, as the sender gave them and as they may be stored."""

import unicodedata

from sealdesk.mail.parsing.types import Fault
from sealdesk.tickets.attachments.rules import MAX_NAME_LENGTH, fault_of_name

_MAX_ENDING_LENGTH = 20
_LEFT_OUT = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Endings of files without a name. `mimetypes` is not used: it reads files of the machine.
_ENDINGS = {
    "application/ics": ".ics",
    "application/json": ".json",
    "application/ms-tnef": ".dat",
    "application/msword": ".doc",
    "application/pdf": ".pdf",
    "application/pgp-keys": ".asc",
    "application/pgp-signature": ".asc",
    "application/pkcs7-mime": ".p7m",
    "application/pkcs7-signature": ".p7s",
    "application/rtf": ".rtf",
    "application/x-pkcs7-mime": ".p7m",
    "application/x-pkcs7-signature": ".p7s",
    "application/xml": ".xml",
    "application/zip": ".zip",
    "audio/mpeg": ".mp3",
    "image/gif": ".gif",
    "image/heic": ".heic",
    "image/jpeg": ".jpg",
    "image/jpg": ".jpg",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/tiff": ".tiff",
    "image/webp": ".webp",
    "message/delivery-status": ".txt",
    "message/rfc822": ".eml",
    "message/global": ".eml",
    "text/calendar": ".ics",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/plain": ".txt",
    "text/rfc822-headers": ".txt",
    "text/vcard": ".vcf",
    "text/x-vcard": ".vcf",
    "text/xml": ".xml",
    "video/mp4": ".mp4",
}
_NAMES = {
    "application/ms-tnef": "winmail",
    "message/rfc822": "message",
    "message/global": "message",
    "text/calendar": "invitation",
}


def file_name(declared: str, content_type: str, number: int, faults: set[Fault]) -> str:
    """The name of a file without directory and control characters, made up if it has none."""
    ending = _ENDINGS.get(content_type, ".bin")
    if not declared.strip():
        return f"{_NAMES.get(content_type, 'attachment')}-{number}{ending}"
    name = declared.replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = "".join(each for each in name if unicodedata.category(each) not in _LEFT_OUT).strip()
    name = _shortened(name)
    name = f"attachment-{number}{ending}" if fault_of_name(name) else name
    if name != declared.strip():
        faults.add(Fault.FILE_NAME)
    return name


def _shortened(name: str) -> str:
    """A name that is short enough, with its ending."""
    if len(name) <= MAX_NAME_LENGTH:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _MAX_ENDING_LENGTH:
        return name[:MAX_NAME_LENGTH]
    return stem[: MAX_NAME_LENGTH - len(ending) - 1] + dot + ending
