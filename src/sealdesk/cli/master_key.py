"""Tries whether the master keys open the secrets of the database."""

from itertools import islice
from typing import NamedTuple

from sealdesk.api_keys import rules, store
from sealdesk.cli.installation import Installation, open_database_access
from sealdesk.cli.keys import iterate_sealed
from sealdesk.crypto import key_files
from sealdesk.crypto.sealing import UnsealError
from sealdesk.errors import ConfigurationError
from sealdesk.mail.mailboxes import passwords
from sealdesk.mail.mailboxes.rules import SEALED
from sealdesk.mail.mailboxes.store import mailboxes as mailbox_store
from sealdesk.mail.servers import MailFailed
from sealdesk.settings import Settings

_TRIED_AT_START = 3


class Trial(NamedTuple):
    """How many secrets were tried, and why one could not be opened, if one could not."""

    tried_count: int
    fault: str = ""


def try_secrets(installation: Installation, at_most: int) -> Trial:
    """Open the first sealed secrets of API keys."""
    sealed = list(islice(iterate_sealed(installation), at_most))
    for tenant_id, key_id in sealed:
        key = installation.fetch(tenant_id, store.find, key_id)
        try:
            if key is not None and key.sealed_secret is not None:
                installation.key_ring.open(key.sealed_secret, rules.seal_context(key))
        except UnsealError as error:
            return Trial(len(sealed), f"the secret of key {key_id} cannot be opened: {error}")
    return Trial(len(sealed))


def try_passwords(installation: Installation, at_most: int) -> Trial:
    """Open the passwords of the first mailboxes that have any."""
    sealed = list(islice(iterate_sealed(installation, mailbox_store.list_sealed), at_most))
    for tenant_id, mailbox_id in sealed:
        mailbox = installation.fetch(tenant_id, mailbox_store.find, mailbox_id)
        try:
            for name in SEALED:
                if mailbox is not None:
                    passwords.open_password(installation.key_ring, mailbox, name)
        except MailFailed as error:
            fault = f"the password of mailbox {mailbox_id} cannot be opened: {error.__cause__}"
            return Trial(len(sealed), fault)
    return Trial(len(sealed))


def ensure_fits(settings: Settings) -> None:
    """Raises ConfigurationError when the master keys do not open the secrets of the database."""
    with open_database_access(settings) as access:
        fault = try_secrets(Installation(settings, access), _TRIED_AT_START).fault
    if fault:
        raise ConfigurationError(
            f"{fault}. Each signed request would be refused. Check that SEALDESK_MASTER_KEY, or"
            f" {key_files.MASTER} in {settings.data_dir}, is the key of this database, and that"
            " after a rotation the old key still follows the new one"
        )
