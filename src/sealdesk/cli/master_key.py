"""Tries whether the master keys open the secrets of the database."""

from functools import partial
from itertools import islice
from typing import NamedTuple

from sealdesk.api_keys import rules
from sealdesk.cli.installation import Installation, open_database_access
from sealdesk.cli.keys import find_key, iterate_sealed
from sealdesk.crypto import key_files
from sealdesk.crypto.sealing import UnsealError
from sealdesk.errors import ConfigurationError
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
        key = installation.read(partial(find_key, tenant_id, key_id), tenant_id)
        try:
            if key is not None and key.sealed_secret is not None:
                installation.key_ring.open(key.sealed_secret, rules.seal_context(key))
        except UnsealError as error:
            return Trial(len(sealed), f"the secret of key {key_id} cannot be opened: {error}")
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
