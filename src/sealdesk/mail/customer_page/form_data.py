"""Reads the body of a form with files (multipart/form-data, RFC 7578); no I/O."""

from typing import NamedTuple

from sealdesk.errors import BadRequest
from sealdesk.errors.requests import FORM_HOLDS_NUL, UNREADABLE_FORM
from sealdesk.mail.parsing.parameters import read_value
from sealdesk.mail.parsing.structure import Structure
from sealdesk.mail.parsing.types import Fault
from sealdesk.web.form import Form

_MAX_FIELD_BYTES = 256 * 1024


class SentFile(NamedTuple):
    """A file as a browser sends it."""

    name: str
    content_type: str
    content: bytes


class FormData(NamedTuple):
    form: Form
    files: list[SentFile]


def read(content_type: bytes, body: bytes) -> FormData:
    """The fields and files of a body. Raises BadRequest."""
    structure = Structure(b"Content-Type: " + content_type + b"\r\n\r\n" + body)
    top = structure.read()
    if structure.faults & {Fault.BOUNDARY, Fault.PARTS, Fault.DEPTH}:
        raise BadRequest(UNREADABLE_FORM)
    fields, files = list[tuple[str, str]](), list[SentFile]()
    for part in top.parts:
        disposition = read_value(part.headers.first("content-disposition"), set())
        name = disposition.parameters.get("name", "")
        content = structure.raw[part.start : part.end]
        file_name = disposition.parameters.get("filename")
        if file_name is None:
            fields.append((name, _text(content)))
        elif file_name or content:  # a field in which no file was chosen has neither
            files.append(SentFile(file_name, part.kind, content))
    return FormData(Form(fields), files)


def _text(content: bytes) -> str:
    if len(content) > _MAX_FIELD_BYTES:
        raise BadRequest(UNREADABLE_FORM)
    if b"\0" in content:
        raise BadRequest(FORM_HOLDS_NUL)
    try:
        return content.decode().replace("\r\n", "\n")
    except ValueError:
        raise BadRequest(UNREADABLE_FORM) from None
