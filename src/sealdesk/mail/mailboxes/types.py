"""The structs of mailboxes: as requested, as stored, and as shown."""

from typing import ClassVar, Literal, NamedTuple, get_args

import msgspec
from msgspec import UNSET, UnsetType

from sealdesk.clock import Iso
from sealdesk.ids import Id
from sealdesk.mail.mailboxes.fields import (
    Address,
    Aliases,
    Directory,
    DisplayName,
    Folder,
    Host,
    LongText,
    Option,
    Options,
    Password,
    PerMinute,
    Port,
    Username,
)
from sealdesk.mail.servers import ProblemCode, Security
from sealdesk.oauth.providers import ProviderName
from sealdesk.resources.representation import email_identity

Receives = Literal["imap", "smtp", "no"]
# How the directory lists an address: as its mailbox receives, as an alias of it, or as an address
# that it had once; or @ and a domain that is assigned to a tenant.
ListedAs = Literal["imap", "smtp", "no", "alias", "former", "domain"]
ImapSecurity = Literal["tls", "starttls"]
Language = Literal["de", "en"]
Protocol = Literal["imap", "smtp"]
Side = Literal["receiving", "sending"]
# What is sealed in a mailbox: the passwords, and the refresh token of OAuth.
SecretName = Literal["imap", "smtp", "oauth"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_READ_ONLY = frozenset(
    {
        *("id", "has_imap_password", "has_smtp_password", "oauth_provider"),
        *("unverified_addresses", "created_at"),
    }
)


class NewMailbox(msgspec.Struct, frozen=True):
    """The body of a request that creates a mailbox.

    address: of one mailbox of the installation, with at most 37 characters before the @.
    aliases: other addresses whose mail comes in here, at most 20; nothing is sent from them.
    display_name: the name beside the address in what is sent; by default the name of the desk.
    signature: below each reply, at most 4 KiB.
    receives: `imap` reads a folder, `smtp` accepts from a mail server in front; `no` only sends.
    team_id: which gets the new tickets.
    language: of automatic messages.
    imap_port: default 993 for `tls` and 143 for `starttls`.
    imap_password, smtp_password: write-only.
    smtp_host: which sends; without it nothing is sent.
    smtp_port: default 465 for `tls`, 587 for `starttls` and 25 for `none`.
    smtp_security: `none` only without a log-in, since the password could be read on the way.
    acknowledgement: the text that answers a new ticket; null for none.
    per_minute: the most messages that are sent in a minute.
    options: `ticket_number` writes the number into the subject of what is sent, `quoted_message`
    quotes the message before below a reply, `hidden_participants` shows nobody who else gets it,
    `strict_dmarc` treats what does not pass DMARC as what fails.
    is_paused: whether it neither receives nor sends.
    """

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY
    IS_CLOSED: ClassVar[bool] = True  # `options` has what is believed of a sender

    address: Address
    aliases: Aliases = []
    display_name: DisplayName = ""
    signature: LongText = ""
    receives: Receives = "no"
    team_id: str | None = None
    language: Language | None = None
    imap_host: Host | None = None
    imap_port: Port | None = None
    imap_security: ImapSecurity | None = None
    imap_username: Username | None = None
    imap_password: Password | None = None
    imap_folder: Folder | None = None
    smtp_host: Host | None = None
    smtp_port: Port | None = None
    smtp_security: Security | None = None
    smtp_username: Username | None = None
    smtp_password: Password | None = None
    acknowledgement: LongText | None = None
    per_minute: PerMinute = 60
    options: Options = []
    is_paused: bool = False

    def __repr__(self) -> str:
        return f"NewMailbox({self.address!r}, …)"


class MailboxChange(msgspec.Struct, frozen=True):
    """A merge patch of a mailbox: fields left out stay as they are, null clears.

    imap_password, smtp_password: needed again when the host, port or security changes.
    """

    IGNORED: ClassVar[frozenset[str]] = _READ_ONLY
    IS_CLOSED: ClassVar[bool] = True

    address: Address | UnsetType = UNSET
    aliases: Aliases | UnsetType = UNSET
    display_name: DisplayName | UnsetType = UNSET
    signature: LongText | UnsetType = UNSET
    receives: Receives | UnsetType = UNSET
    team_id: str | UnsetType | None = UNSET
    language: Language | UnsetType | None = UNSET
    imap_host: Host | UnsetType | None = UNSET
    imap_port: Port | UnsetType | None = UNSET
    imap_security: ImapSecurity | UnsetType | None = UNSET
    imap_username: Username | UnsetType | None = UNSET
    imap_password: Password | UnsetType | None = UNSET
    imap_folder: Folder | UnsetType | None = UNSET
    smtp_host: Host | UnsetType | None = UNSET
    smtp_port: Port | UnsetType | None = UNSET
    smtp_security: Security | UnsetType | None = UNSET
    smtp_username: Username | UnsetType | None = UNSET
    smtp_password: Password | UnsetType | None = UNSET
    acknowledgement: LongText | UnsetType | None = UNSET
    per_minute: PerMinute | UnsetType = UNSET
    options: Options | UnsetType = UNSET
    is_paused: bool | UnsetType = UNSET

    def __repr__(self) -> str:
        return "MailboxChange(…)"


class MailboxFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a mailbox that the API shows as they are stored.

    aliases: other addresses whose mail comes in here.
    display_name: "" for the name of the desk.
    receives: `imap`, `smtp` or `no`.
    team_id: which gets the new tickets.
    imap_host: null if it reads no folder.
    smtp_host: null if it does not send.
    acknowledgement: the text that answers a new ticket; null for none.
    per_minute: the most messages that are sent in a minute.
    options: what is done otherwise than usual.
    """

    id: Id
    address: str
    aliases: tuple[str, ...]
    display_name: str
    signature: str
    receives: Receives
    team_id: str | None
    language: str | None
    imap_host: str | None
    imap_port: int | None
    imap_security: ImapSecurity | None
    imap_username: str | None
    imap_folder: str | None
    smtp_host: str | None
    smtp_port: int | None
    smtp_security: Security | None
    smtp_username: str | None
    acknowledgement: str | None
    per_minute: int
    options: tuple[Option, ...] = ()
    is_paused: bool


class Failure(NamedTuple):
    """Why receiving or sending fails. detail: one sentence."""

    code: ProblemCode
    detail: str


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with receiving or sending. detail: one sentence. since: in microseconds."""

    code: ProblemCode
    detail: str
    since: int


class Problems(msgspec.Struct, frozen=True):
    """What is wrong with a mailbox."""

    receiving: Problem | None = None
    sending: Problem | None = None


class Mailbox(MailboxFields, frozen=True, kw_only=True):
    """A mailbox as it is stored. address_identity: its id after it is deleted.

    unverified: of its addresses, those that it does not have yet.
    problem: JSON of Problems. uid_validity, last_uid: of the last message that was taken from the
    IMAP folder. read_at: when the folder was read to its end; before the first time, since when
    its messages are taken.
    """

    tenant_id: str
    address_identity: str
    unverified: tuple[str, ...] = ()
    sealed_imap_password: bytes | None = None
    sealed_smtp_password: bytes | None = None
    oauth_provider: ProviderName | None = None
    sealed_refresh_token: bytes | None = None
    problem: str | None = None
    uid_validity: int | None = None
    last_uid: int | None = None
    created_at: int
    deleted_at: int | None = None
    version: int = 1
    read_at: int | None

    def __repr__(self) -> str:
        return f"Mailbox({self.id!r}, …)"

    @property
    def identities(self) -> frozenset[str]:
        """Its addresses, as addresses are compared."""
        return frozenset({self.address_identity, *map(address_identity, self.aliases)})

    @property
    def is_unverified(self) -> bool:
        """Whether it waits for its own address, not only for an alias."""
        return self.address_identity in self.unverified

    @property
    def sends(self) -> bool:
        return self.smtp_host is not None

    @property
    def problems(self) -> Problems:
        return Problems() if self.problem is None else _decode_problems(self.problem)


class UnverifiedAddress(msgspec.Struct, frozen=True):
    """One of `unverified_addresses` of a mailbox."""

    address: str


class AddressCode(msgspec.Struct, frozen=True):
    """That messages to an address of a mailbox reach who has it. code: as it was sent there."""

    address: str
    code: str

    def __repr__(self) -> str:
        return f"AddressCode({self.address!r}, ***)"


class FormerAddress(msgspec.Struct, frozen=True):
    """An address that a mailbox of this desk had: no other desk gets it until it is freed."""

    address: str


class MailboxProblemResponse(msgspec.Struct, frozen=True):
    """What is wrong with receiving or sending.

    message: what is wrong.
    detail: what the server said, or what was noticed.
    remedy: what an administrator can do.
    since: when it was noticed first.
    """

    code: ProblemCode
    message: str
    detail: str
    remedy: str
    since: Iso


class MailboxResponse(MailboxFields, frozen=True, kw_only=True):
    """A mailbox as the API shows it.

    has_imap_password, has_smtp_password: whether a password is stored; none is ever shown.
    oauth_provider: `google` or `microsoft` if somebody has consented to the log-in with OAuth,
    `microsoft_application` if an application of the mailbox's own logs in.
    unverified_addresses: those that it gets once they are verified to be the desk's; as long as
    `address` is among them, it is paused.
    receiving_problem, sending_problem: what is wrong since when; null if nothing is.
    """

    has_imap_password: bool
    has_smtp_password: bool
    oauth_provider: ProviderName | None
    unverified_addresses: tuple[str, ...]
    receiving_problem: MailboxProblemResponse | None
    sending_problem: MailboxProblemResponse | None
    created_at: Iso


class Consent(NamedTuple):
    """What somebody has consented to at a provider. account: the address of who consented."""

    provider: ProviderName
    account: str
    refresh_token: str

    def __repr__(self) -> str:
        return f"Consent({self.provider!r}, {self.account!r}, ***)"


class NewApplication(msgspec.Struct, frozen=True):
    """An application at Microsoft that a mailbox logs in with, as the form sends it."""

    directory: Directory
    client_id: Username
    client_secret: Password

    def __repr__(self) -> str:
        return f"NewApplication({self.directory!r}, {self.client_id!r}, ***)"


Step = Literal["name", "connection", "tls", "log_in", "folder", "sending", "arrival"]
Outcome = Literal["done", "failed", "skipped"]


class StepResult(msgspec.Struct, frozen=True):
    """One step of a test. code, detail: why it failed."""

    protocol: Protocol
    step: Step
    outcome: Outcome
    code: ProblemCode | None = None
    detail: str = ""


class MailboxTestStepResponse(msgspec.Struct, frozen=True):
    """One step of a test.

    protocol: `smtp` sends, `imap` receives.
    outcome: `skipped` after a step that failed, or if it does not apply.
    code, message, remedy: what is wrong and what to do, null unless it failed.
    detail: what the server said, or what was noticed.
    """

    protocol: Protocol
    step: Step
    outcome: Outcome
    code: ProblemCode | None
    message: str | None
    detail: str
    remedy: str | None


class MailboxTestResponse(msgspec.Struct, frozen=True):
    """The result of a test.

    is_working: whether no step failed.
    steps: in their order.
    domain: what the DNS records of the address's domain lack, one line each; `is_working` does not
    depend on it.
    """

    is_working: bool
    steps: tuple[MailboxTestStepResponse, ...]
    domain: tuple[str, ...]


_decode_problems = msgspec.json.Decoder(Problems).decode
address_identity = email_identity


def base_address(identity: str) -> str:
    """An address without what follows a + before the @ (RFC 5233)."""
    local, _, domain = identity.rpartition("@")
    base = local.partition("+")[0]
    return f"{base}@{domain}" if base else identity
