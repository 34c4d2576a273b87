"""How mailboxes are completed, changed and shown; no IO."""

import hashlib
from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import UNSET

from sealdesk import clock
from sealdesk.errors import Fault, gettext_noop
from sealdesk.event_log.events import Changes
from sealdesk.http_client.urls import parse_host
from sealdesk.identity.types import FailureLimit
from sealdesk.mail.mailboxes import problems
from sealdesk.mail.mailboxes.fields import OPTIONS
from sealdesk.mail.mailboxes.types import (
    Consent,
    Failure,
    ListedAs,
    Mailbox,
    MailboxChange,
    MailboxFields,
    MailboxProblemResponse,
    MailboxResponse,
    NewApplication,
    NewMailbox,
    Problem,
    Problems,
    Protocol,
    Receives,
    SecretName,
    Side,
    address_identity,
)
from sealdesk.oauth.providers import PROVIDERS, Provider
from sealdesk.oauth.tokens import Application
from sealdesk.resources import merge_patch, representation
from sealdesk.settings import OAuthClient

MAX_MAILBOXES = 20  # of a tenant
CODE_US = 3600 * 1_000_000  # how long a code verifies an address
DAY_US = 24 * 3600 * 1_000_000
# Codes that an address and a desk get in a day, and wrong ones that are looked at in an hour.
MAX_CODES, MAX_CODES_OF_DESK, MAX_TRIES = 3, 20, 5
DEFAULT_PER_MINUTE = 60
PROTOCOLS: tuple[Protocol, ...] = ("imap", "smtp")
SEALED: dict[SecretName, str] = {
    "imap": "sealed_imap_password",
    "smtp": "sealed_smtp_password",
    "oauth": "sealed_refresh_token",
}
SIDES: dict[Protocol, Side] = {"imap": "receiving", "smtp": "sending"}
FIELDS = tuple(name for name in MailboxFields.__struct_fields__ if name != "id")
_TEXTS = ("signature", "acknowledgement")
_PASSWORDS = ("imap_password", "smtp_password")
USUAL_PORTS = {
    "imap": {"tls": 993, "starttls": 143},
    "smtp": {"tls": 465, "starttls": 587, "none": 25},
}
_PLACE = ("host", "port", "security")
_REQUIRED = gettext_noop("This is needed to read the folder.")
_PASSWORD_AGAIN = gettext_noop(
    "Enter the password again: it is never sent to another server than the one it was entered for."
)
_NO_LOGIN = gettext_noop(
    "Without TLS there is no log-in: the password could be read on the way. Choose TLS or"
    " STARTTLS, or leave the user name and the password empty."
)
_NO_HOST = gettext_noop("Enter the server too: without one there is no log-in.")
_BOTH = gettext_noop("A log-in needs a user name and a password.")


def seal_context(mailbox: Mailbox, name: SecretName) -> str:
    """The associated data of a sealed secret, which opens in no other row or column."""
    return f"mailbox_password {mailbox.tenant_id} {mailbox.id} {name}"


def created(new: NewMailbox, *, tenant_id: str, mailbox_id: str, now_us: int) -> Mailbox:
    """A new mailbox, without its passwords."""
    return _complete(
        Mailbox(
            **{name: getattr(new, name) for name in FIELDS},
            tenant_id=tenant_id,
            id=mailbox_id,
            address_identity=address_identity(new.address),
            created_at=now_us,
            read_at=now_us,
        )
    )


def changed(mailbox: Mailbox, change: MailboxChange, now_us: int) -> Mailbox:
    """The mailbox after a change, still with its old passwords, version and problem."""
    wanted = merge_patch.given_fields(change)
    kept = {name: value for name, value in wanted.items() if name not in _PASSWORDS}
    after = _complete(msgspec.structs.replace(mailbox, **kept))
    is_other = is_moved(mailbox, after, "imap") or _folder(mailbox) != _folder(after)
    if is_other or mailbox.receives != after.receives:
        after = msgspec.structs.replace(after, uid_validity=None, last_uid=None, read_at=now_us)
    return msgspec.structs.replace(after, address_identity=address_identity(after.address))


def connected(mailbox: Mailbox, consent: Consent, now_us: int) -> Mailbox:
    """The mailbox with the servers of the provider, and still without the refresh token."""
    provider = PROVIDERS[consent.provider]
    fields: dict[str, Any] = {"receives": "smtp" if mailbox.receives == "smtp" else "imap"}
    for protocol, server in (("imap", provider.imap), ("smtp", provider.smtp)):
        given = {**msgspec.structs.asdict(server), "username": mailbox.address}
        fields |= {f"{protocol}_{name}": value for name, value in given.items()}
    after = changed(mailbox, MailboxChange(**fields), now_us)
    return msgspec.structs.replace(
        after,
        oauth_provider=consent.provider,
        sealed_imap_password=None,
        sealed_smtp_password=None,
    )


def consent_of(mailbox: Mailbox, new: NewApplication) -> Consent:
    """What logs in without a person: an application, which no account stands for."""
    own = Application(new.directory, OAuthClient(new.client_id, new.client_secret))
    secret = msgspec.json.encode(own).decode()
    return Consent("microsoft_application", mailbox.address, secret)


def uses_oauth(mailbox: Mailbox, protocol: Protocol) -> bool:
    """Whether the log-in at a server is by OAuth: never at one that the tenant has chosen."""
    provider = provider_of(mailbox)
    at = [getattr(mailbox, f"{protocol}_{part}") for part in _PLACE]
    return provider is not None and sealed_secret(mailbox, protocol) is None and provider.has(*at)


def provider_of(mailbox: Mailbox) -> Provider | None:
    """The provider whose refresh token the mailbox has."""
    return PROVIDERS[mailbox.oauth_provider] if mailbox.oauth_provider else None


def without_unused_consent(before: Mailbox, after: Mailbox) -> Mailbox:
    """The mailbox after a change, without a consent of another account, or for no server."""
    is_same = before.address_identity == after.address_identity
    if is_same and any(uses_oauth(after, protocol) for protocol in PROTOCOLS):
        return after
    return msgspec.structs.replace(after, oauth_provider=None, sealed_refresh_token=None)


def is_moved(before: Mailbox, after: Mailbox, protocol: Protocol) -> bool:
    """Whether the password would go to another server, or go there with less protection."""
    names = [f"{protocol}_{part}" for part in _PLACE]
    return any(getattr(before, name) != getattr(after, name) for name in names)


def find_faults(mailbox: Mailbox) -> list[Fault]:
    """What is missing in a mailbox whose fields are each valid."""
    faults = []
    if mailbox.receives == "imap":
        needed = {
            "imap_host": mailbox.imap_host,
            "imap_username": mailbox.imap_username,
            "imap_password": mailbox.sealed_imap_password or uses_oauth(mailbox, "imap"),
        }
        faults += [
            Fault(f"/{name}", "required", _REQUIRED) for name, it in needed.items() if not it
        ]
    has_password = mailbox.sealed_smtp_password is not None
    if mailbox.smtp_security == "none" and (mailbox.smtp_username or has_password):
        faults.append(Fault("/smtp_security", "login_without_tls", _NO_LOGIN))
    elif (mailbox.smtp_username is not None) != has_password and not uses_oauth(mailbox, "smtp"):
        name = "smtp_username" if has_password else "smtp_password"
        faults.append(Fault(f"/{name}", "required", _BOTH))
    return faults


def find_log_in_faults(
    before: Mailbox | None, after: Mailbox, given: NewMailbox | MailboxChange
) -> list[Fault]:
    """A log-in without its server, which would be dropped without a word."""
    return [
        Fault(f"/{name}", "host_required", _NO_HOST)
        for protocol in PROTOCOLS
        for name in (f"{protocol}_username", f"{protocol}_password")
        if host_of(after, protocol) is None
        and (protocol, after.receives) != ("imap", "imap")  # which needs the server anyway
        and getattr(given, name) not in (UNSET, None, getattr(before, name, None))
    ]


def find_password_faults(before: Mailbox, after: Mailbox, change: MailboxChange) -> list[Fault]:
    """A password is needed again when its server changes."""
    return [
        Fault(f"/{protocol}_password", "password_required", _PASSWORD_AGAIN)
        for protocol in PROTOCOLS
        if sealed_secret(after, protocol) is not None
        and is_moved(before, after, protocol)
        and getattr(change, f"{protocol}_password") is UNSET
    ]


def sealed_secret(mailbox: Mailbox, name: SecretName) -> bytes | None:
    sealed: bytes | None = getattr(mailbox, SEALED[name])
    return sealed


def host_of(mailbox: Mailbox, protocol: Protocol) -> str | None:
    return mailbox.imap_host if protocol == "imap" else mailbox.smtp_host


def differences(before: Mailbox, after: Mailbox) -> Changes:
    """The changed fields for the audit log: field → (old, new), without texts and passwords."""
    changes = merge_patch.differences(before, after, FIELDS)
    for name in _TEXTS:
        if name in changes:
            changes[name] = (_length(getattr(before, name)), _length(getattr(after, name)))
    for protocol in PROTOCOLS:
        old, new = sealed_secret(before, protocol), sealed_secret(after, protocol)
        if old != new:
            changes[f"{protocol}_password"] = (_presence(old), _presence(new))
    if before.oauth_provider != after.oauth_provider:
        changes["oauth_provider"] = (before.oauth_provider, after.oauth_provider)
    return changes


def listed_as(mailbox: Mailbox) -> Receives:
    """How the directory lists a mailbox: a paused one receives nothing."""
    return "no" if mailbox.is_paused else mailbox.receives


def entries(mailbox: Mailbox) -> dict[str, ListedAs]:
    """How the directory lists each address of a mailbox, in the order of the addresses."""
    found: dict[str, ListedAs] = dict.fromkeys(mailbox.identities, "alias")
    return dict(sorted({**found, mailbox.address_identity: listed_as(mailbox)}.items()))


def with_unverified(mailbox: Mailbox, unverified: Collection[str], *, waited: bool) -> Mailbox:
    """The mailbox that waits for these addresses: paused as long as its own is among them.

    waited: whether it did so before, and was paused for that.
    """
    after = msgspec.structs.replace(mailbox, unverified=tuple(sorted(unverified)))
    is_paused = after.is_unverified or (mailbox.is_paused and not waited)
    return msgspec.structs.replace(after, is_paused=is_paused)


def limit_of_codes(mailbox: Mailbox, identity: str) -> FailureLimit:
    """How many codes are sent to an address, in a bucket that does not name it."""
    return FailureLimit(f"address code {_digest(mailbox, identity)}", MAX_CODES, DAY_US)


def limit_of_desk(tenant_id: str) -> FailureLimit:
    """How many codes a desk has sent to all addresses, so that it cannot write to many people."""
    return FailureLimit(f"address codes {tenant_id}", MAX_CODES_OF_DESK, DAY_US)


def limit_of_tries(mailbox: Mailbox, identity: str) -> FailureLimit:
    """How many wrong codes are looked at."""
    return FailureLimit(f"address try {_digest(mailbox, identity)}", MAX_TRIES, CODE_US)


def _digest(mailbox: Mailbox, identity: str) -> str:
    return hashlib.sha256(f"{mailbox.tenant_id} {identity}".encode()).hexdigest()


def with_failure(problems_: Problems, side: Side, failure: Failure | None, now_us: int) -> Problems:
    """The problems after an attempt; the same object if nothing has changed.

    A problem that becomes another one keeps the time since when something is wrong.
    """
    before: Problem | None = getattr(problems_, side)
    if failure is None:
        return problems_ if before is None else msgspec.structs.replace(problems_, **{side: None})
    if before is not None and before.code == failure.code:
        return problems_
    problem = Problem(failure.code, failure.detail, before.since if before else now_us)
    return msgspec.structs.replace(problems_, **{side: problem})


def encode_problems(found: Problems) -> str | None:
    """The column of a mailbox."""
    return None if found == Problems() else msgspec.json.encode(found).decode()


def to_response(mailbox: Mailbox) -> MailboxResponse:
    """A mailbox in the form of the API and of events."""
    found = mailbox.problems
    return MailboxResponse(
        **{name: getattr(mailbox, name) for name in ("id", *FIELDS)},
        has_imap_password=mailbox.sealed_imap_password is not None,
        has_smtp_password=mailbox.sealed_smtp_password is not None,
        oauth_provider=mailbox.oauth_provider,
        unverified_addresses=tuple(
            each
            for each in (mailbox.address, *mailbox.aliases)
            if address_identity(each) in mailbox.unverified
        ),
        receiving_problem=_problem_response(found.receiving, mailbox.imap_host),
        sending_problem=_problem_response(found.sending, mailbox.smtp_host),
        created_at=clock.iso(mailbox.created_at),
    )


def etag(mailbox: Mailbox) -> str:
    """The entity tag of the settings; a problem that comes or goes does not change it."""
    return representation.etag(mailbox.version)


def _complete(mailbox: Mailbox) -> Mailbox:
    """With the default ports, and each alias and option once, without servers that are not used."""
    options = tuple(each for each in OPTIONS if each in mailbox.options)
    values: dict[str, Any] = {"aliases": _distinct_aliases(mailbox), "options": options}
    for protocol in PROTOCOLS:
        host = getattr(mailbox, f"{protocol}_host")
        names = [each for each in FIELDS if each.startswith(f"{protocol}_")]
        if host is None:
            values |= dict.fromkeys([*names, f"sealed_{protocol}_password"])
            continue
        security = getattr(mailbox, f"{protocol}_security") or "tls"
        port = getattr(mailbox, f"{protocol}_port") or USUAL_PORTS[protocol][security]
        at = {"host": str(parse_host(host)), "security": security, "port": port}
        values |= {f"{protocol}_{name}": value for name, value in at.items()}
    if mailbox.imap_host is not None:
        values["imap_folder"] = mailbox.imap_folder or "INBOX"
    return msgspec.structs.replace(mailbox, **values)


def _distinct_aliases(mailbox: Mailbox) -> tuple[str, ...]:
    by_identity = {address_identity(each): each for each in reversed(mailbox.aliases)}
    by_identity.pop(address_identity(mailbox.address), None)
    return tuple(reversed(by_identity.values()))


def _folder(mailbox: Mailbox) -> tuple[str | None, str | None]:
    return mailbox.imap_username, mailbox.imap_folder


def _problem_response(problem: Problem | None, host: str | None) -> MailboxProblemResponse | None:
    if problem is None:
        return None
    return MailboxProblemResponse(
        problem.code,
        problems.MESSAGES[problem.code],
        problem.detail,
        problems.remedy(problem.code, host),
        clock.iso(problem.since),
    )


def _length(text: str | None) -> str | None:
    return None if text is None else f"{len(text)} characters"


def _presence(sealed: bytes | None) -> str | None:
    return None if sealed is None else "***"
