"""Looks up what a mail domain says about who may send for it: MX, SPF, DKIM and DMARC."""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Literal

from sealdesk.errors import gettext_noop
from sealdesk.resources.representation import email_identity

Fault = Literal["mx_missing", "spf_missing", "dkim_missing", "dmarc_missing", "not_checked"]
# The texts of the records of a name and a type, none if there are none. Raises LookupFailed.
LookUp = Callable[[str, str], Awaitable[list[str]]]
MESSAGES: dict[Fault, str] = {
    "mx_missing": gettext_noop(
        "The domain has no MX record, so mail to it may not arrive: add one with the name of its"
        " mail server."
    ),
    "spf_missing": gettext_noop(
        "The domain has no SPF record: add a TXT record such as v=spf1 include:… -all that names"
        " the server that sends."
    ),
    "dkim_missing": gettext_noop(
        "No DKIM key was found under the usual selectors: have the server that sends sign, and"
        " publish its key. If it uses another selector, all is well."
    ),
    "dmarc_missing": gettext_noop(
        "The domain has no DMARC record: add a TXT record at _dmarc, such as v=DMARC1; p=none."
    ),
    "not_checked": gettext_noop("The records of the domain could not be looked up now."),
}
_LOOK_UP_S = 3.0
_PROOF = "sealdesk-tenant="  # in a TXT record, before the id of the tenant whose domain it is
# DNS does not list the selectors of a domain; these are what big providers and milters use.
_SELECTORS = ("default", "google", "selector1", "selector2", "dkim", "mail", "k1", "s1", "fm1")
_RESERVED = ("test", "example", "invalid", "localhost", "local")  # RFC 6761, RFC 6762


class LookupFailed(Exception):
    """No name server has answered."""


async def check_domain(address: str, look_up: LookUp) -> tuple[Fault, ...]:
    """What the domain of an address lacks; nothing is asked about domains that are not public."""
    domain = email_identity(address).rpartition("@")[2]
    if _is_reserved(domain):
        return ()
    keys = [look_up(f"{each}._domainkey.{domain}", "TXT") for each in _SELECTORS]
    try:
        mx, spf, dmarc, *dkim = await asyncio.gather(
            look_up(domain, "MX"), look_up(domain, "TXT"), _find_dmarc(domain, look_up), *keys
        )
    except LookupFailed:
        return ("not_checked",)
    has: dict[Fault, bool] = {
        "mx_missing": any(each != "." for each in mx),  # RFC 7505: no mail at all
        "spf_missing": any(each.lower().startswith("v=spf1") for each in spf),
        "dkim_missing": any("p=" in each for found in dkim for each in found),
        "dmarc_missing": any(each.upper().startswith("V=DMARC1") for each in dmarc),
    }
    return tuple(fault for fault, is_there in has.items() if not is_there)


async def names_tenant(domain: str, tenant_id: str, look_up: LookUp) -> bool:
    """Whether the DNS records of a domain say that it is a tenant's."""
    try:
        return not _is_reserved(domain) and proof_of(tenant_id) in await look_up(domain, "TXT")
    except LookupFailed:
        return False


def proof_of(tenant_id: str) -> str:
    """The TXT record by which the owner of a domain gives it to a tenant."""
    return f"{_PROOF}{tenant_id}"


def _is_reserved(domain: str) -> bool:
    return domain.rpartition(".")[2] in _RESERVED


async def _find_dmarc(domain: str, look_up: LookUp) -> list[str]:
    """That of the domain, else of the one that it is below (RFC 7489, 6.6.3)."""
    parent = domain.split(".", 1)[1]
    own = await look_up(f"_dmarc.{domain}", "TXT")
    return own or (await look_up(f"_dmarc.{parent}", "TXT") if "." in parent else [])


async def look_up(name: str, kind: str) -> list[str]:
    """Ask the system's name server. Raises LookupFailed."""
    # Importing it takes 0.2 s, and only this test needs it.
    resolver = await asyncio.to_thread(import_module, "dns.asyncresolver")
    errors = await asyncio.to_thread(import_module, "dns.exception")
    dns = import_module("dns.resolver")
    try:
        answer = await resolver.resolve(name, kind, lifetime=_LOOK_UP_S)
    except (dns.NXDOMAIN, dns.NoAnswer):
        return []
    except errors.DNSException as error:
        raise LookupFailed from error
    if kind == "MX":
        return [str(each.exchange) for each in answer]
    return [b"".join(each.strings).decode("utf-8", "replace") for each in answer]
