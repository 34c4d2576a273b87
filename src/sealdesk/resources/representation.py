"""How the API represents resources: the types of shared fields, responses and ETags."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection
from operator import attrgetter
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Meta

from sealdesk.clock import Iso, iso_or_none, parse_instant
from sealdesk.errors import Fault, PreconditionFailed, gettext_noop
from sealdesk.errors.general import CHANGED_MEANWHILE, VERSION_MISMATCH
from sealdesk.resources.addresses import is_stand_in
from sealdesk.resources.identity import is_visible

R = TypeVar("R", bound=msgspec.Struct)
_encode = msgspec.json.Encoder().encode
MAX_EMAIL_LENGTH = 254  # RFC 5321 4.5.3.1.3, less the angle brackets
MAX_OBJECT_BYTES = 16 * 1024
TOGETHER_TOO_LARGE = gettext_noop("Together these are over 16 KiB.")
_TOO_LONG = gettext_noop("This must be at most %(limit)s characters.")
_NOT_AN_ADDRESS = gettext_noop("This is not an e-mail address: %(reason)s")
_NOT_VISIBLE = gettext_noop("This must have a character that can be seen.")
_NOT_A_TIME = gettext_noop("This is not an ISO 8601 time, as in 2027-01-31T09:30:00Z.")
TOO_LARGE = "This must be at most %(limit)s bytes of JSON."

# Names of a condition in a body, in small letters: a change that nothing reads it of loses another.
CONDITIONS = dict.fromkeys(("ifmatch", "etag"), "Send the ETag in the header If-Match.")

# Nearly every address matches. The library takes 63 µs, a third of the time of creating a ticket; a
# test checks that the library accepts everything that matches.
_COMMON_EMAIL = re.compile(
    r"(?!.{255})(?![^@]{65})[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*"
    r"@(?:(?![^.]{64})[a-z0-9]+(?:-[a-z0-9]+)*\.)+"
    r"(?!(?:arpa|invalid|local|localhost|onion)\Z)[a-z]{2,24}",
    re.ASCII | re.IGNORECASE,
)


def email_identity(address: str) -> str:
    """The form in which addresses are compared, the same on every database.

    NFC and lower case, with the domain as mail servers look it up: `xn--bcher-kva.example`.
    """
    return with_ascii_domain(unicodedata.normalize("NFC", address).lower())


def stored_forms(address: str) -> tuple[str, ...]:
    """What to look an address up by: first as an older Python may have left it (decision 0141)."""
    identity = email_identity(address)
    return (identity,) if address.isascii() else (*dict.fromkeys((address, identity)),)


def with_ascii_domain(address: str) -> str:
    """An address as every mail server takes it, if its local part has no other letters."""
    local, at, domain = address.rpartition("@")
    return address if domain.isascii() else f"{local}{at}{_ascii_domain(domain)}"


def _ascii_domain(domain: str) -> str:
    # Imported here because its tables take 10 ms, and nearly all domains are ASCII.
    import idna

    try:
        return idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        return domain


def check_email(address: str) -> list[Fault]:
    """What is wrong with an e-mail address."""
    if _COMMON_EMAIL.fullmatch(address) is not None or is_stand_in(address):
        return []
    if len(address) > MAX_EMAIL_LENGTH:
        return [Fault("", "invalid_email", _TOO_LONG, {"limit": MAX_EMAIL_LENGTH})]
    # Imported here because its tables of special domains take 30 ms, which few processes need.
    from email_validator import EmailNotValidError, validate_email

    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        return [Fault("", "invalid_email", _NOT_AN_ADDRESS, {"reason": str(error)})]
    return []


def check_object(value: dict[str, Any]) -> list[Fault]:
    """Free JSON objects are limited by their size as JSON."""
    if len(msgspec.json.encode(value)) > MAX_OBJECT_BYTES:
        return [Fault("", "too_large", TOO_LARGE, {"limit": MAX_OBJECT_BYTES})]
    return []


def check_visible(text: str) -> list[Fault]:
    return [] if is_visible(text) else [Fault("", "too_short", _NOT_VISIBLE)]


def check_instant(text: str) -> list[Fault]:
    is_time = parse_instant(text) is not None
    return [] if is_time else [Fault("", "invalid_time", _NOT_A_TIME)]


Email = Annotated[str, Meta(extra={"check": check_email}, extra_json_schema={"format": "email"})]
Instant = Annotated[
    str, Meta(extra={"check": check_instant}, extra_json_schema={"format": "date-time"})
]
Text64 = Annotated[str, Meta(max_length=64)]
Text255 = Annotated[str, Meta(max_length=255)]
Object = Annotated[dict[str, Any], Meta(extra={"check": check_object})]


def response_builder(response: type[R], *others: str) -> Callable[..., R]:
    """A function that builds this struct from any object with attributes of the same names.

    Times become ISO 8601. Fields that are left out by default stay out.
    others: fields without such an attribute, which the function takes by name.
    """
    read = _reader(response, others)
    return lambda stored, **values: response(**read(stored), **values)


def response_encoder(response: type[msgspec.Struct]) -> Callable[[Any], bytes]:
    """A function that encodes what `response_builder` builds as JSON, without building it."""
    read = _reader(response)
    return lambda stored: _encode(read(stored))


def _reader(
    response: type[msgspec.Struct], others: Collection[str] = ()
) -> Callable[[Any], dict[str, Any]]:
    # The types are read once, here; the function itself only copies values.
    hints = get_type_hints(response, include_extras=True)
    fields = msgspec.structs.fields(response)
    given = [each.name for each in fields if each.default is not UNSET]
    names = [name for name in given if name not in others]
    values_of = attrgetter(*names)
    times = [name for name in names if Iso in (hints[name], *get_args(hints[name]))]

    def read(stored: Any) -> dict[str, Any]:
        values = dict(zip(names, values_of(stored), strict=True))
        for name in times:
            values[name] = iso_or_none(values[name])
        return values

    return read


def etag(version: int, part_version: int | None = None) -> str:
    """The entity tag of a resource that changes with its version and with that of a part."""
    return f'"{version}"' if part_version is None else f'"{version}.{part_version}"'


def check_match(if_match: tuple[str, ...] | None, current: str) -> None:
    """Raises PreconditionFailed when If-Match does not name the current ETag (RFC 9110, 13)."""
    if if_match is not None and "*" not in if_match and current not in if_match:
        raise PreconditionFailed(VERSION_MISMATCH, current=current)


def fingerprint(value: object) -> str:
    """A short text that is another one after each change of a value, which JSON can hold."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:16]


def check_seen(seen: str, current: str) -> None:
    """Raises PreconditionFailed when a form was opened with another version; "" for any."""
    if seen and seen != current:
        raise PreconditionFailed(CHANGED_MEANWHILE)
