"""Names of forms in paths, how long a submission waits, and how many may wait; no I/O."""

import hashlib
import re
from urllib.parse import urlsplit

from sealdesk.errors import Fault, gettext_noop
from sealdesk.identity.types import FailureLimit

HOUR_US = 3600 * 1_000_000
WAITS_US = 24 * HOUR_US  # until a submission that nobody confirms is deleted
MAX_WAITING = 1000  # submissions of a tenant
MAX_OF_ADDRESS = 3  # e-mails that one address gets within an hour, from all desks
FASTEST_US = 2_000_000  # a person needs longer to fill in the form
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_MIN_NAME = 3
_MAX_URL = 200
# The first parts of our own paths, now or probably soon, and names that would mislead customers.
RESERVED = frozenset(
    """
    about account admin api assets attachments auth billing bulk contact customer customers
    dashboard desk docs download email events export favicon feed files form forms healthz help
    home held-messages import inbox language live log-in log-out login logout mail metrics new
    notifications oauth openapi password public readyz register reports reset robots root saml
    sealdesk search security settings setup sign-in sign-up signin signup sitemap sso static
    status system team-now teams test tickets users webhooks well-known www
    """.split()
)
_NOT_A_NAME = gettext_noop(
    "Write 3 to 63 small letters, digits and hyphens, with a letter or digit at both ends."
)
_RESERVED = gettext_noop("Sealdesk uses this name itself. Choose another one.")
_NOT_A_URL = gettext_noop(
    "Write the address at which browsers reach Sealdesk, as in https://desk.example.com."
)


def limit_of_address(identity: str) -> FailureLimit:
    """How many e-mails an address gets, in a bucket that does not name it."""
    digest = hashlib.sha256(identity.encode()).hexdigest()
    return FailureLimit(f"form {digest}", MAX_OF_ADDRESS, HOUR_US)


def faults_of_name(name: str) -> list[Fault]:
    """What is wrong with the name of a form in its path."""
    if len(name) < _MIN_NAME or _NAME.fullmatch(name) is None:
        return [Fault("/path_name", "invalid_value", _NOT_A_NAME)]
    if name in RESERVED:
        return [Fault("/path_name", "reserved", _RESERVED)]
    return []


def faults_of_url(url: str) -> list[Fault]:
    """What is wrong with the address that links in e-mails begin with."""
    return [] if _is_base_url(url) else [Fault("/base_url", "invalid_value", _NOT_A_URL)]


def _is_base_url(url: str) -> bool:
    if len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    rest = (parts.query, parts.fragment, parts.username, parts.password)
    is_plain = not any(rest) and not any(mark in url for mark in "<>\"'\\?#@")
    return parts.scheme in ("http", "https") and bool(host) and is_plain
