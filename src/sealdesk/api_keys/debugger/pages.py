"""Settings → API Keys → Debug: why a signature does not fit. Secrets stay on the server."""

import asyncio
import logging

import msgspec

from sealdesk import clock
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.debugger import comparison, parsing
from sealdesk.api_keys.debugger.comparison import Verdict
from sealdesk.api_keys.debugger.parsing import PastedRequest
from sealdesk.api_keys.errors import SECRET_UNREADABLE
from sealdesk.api_keys.rules import ApiKey
from sealdesk.api_keys.store import StoredRefusal
from sealdesk.crypto.sealing import UnsealError
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound, ServiceUnavailable
from sealdesk.paging import PageRequest
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_KEYS_OFFERED = 100
_FIELDS = ("method", "target", "timestamp", "body", "signature", "api_key", "host")

log = logging.getLogger("sealdesk.api_keys")


@page
async def ask(request: Request) -> Response:
    """The form, and of a key that was picked its refusals; of one of them, what is known."""
    asked = forms.read_query(request)
    key_id, refusal_id = asked.text("key"), asked.text("refusal")
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> StoredRefusal | None:
        if key_id and await store.find(tx, tenant_id, key_id) is None:
            raise NotFound
        if not refusal_id:
            return None
        refused = await store.find_refusal(tx, tenant_id, key_id, refusal_id)
        if refused is None:
            raise NotFound
        return refused

    refused = await request.read(work)
    if refused is None:
        return await _show(request, key_id, _blank(request))
    return await _show(request, key_id, _of_refusal(request, refused), _known_of(refused), refused)


@page
async def debug(request: Request) -> Response:
    """What is wrong with what was pasted. Nothing of it is kept."""
    form = forms.read(request)
    key_id, tenant_id = form.text("key"), request.caller.tenant_id
    key = await request.read(lambda tx: store.find(tx, tenant_id, key_id))
    pasted = _pasted(form)
    if key is None:
        return await _show(request, key_id, pasted, faults=("key",))
    missing = [name for name in ("method", "target", "timestamp") if not _has(pasted, name)]
    if not pasted.signature.strip():
        missing.append("signature")
    if missing:
        return await _show(request, key_id, pasted, faults=tuple(missing))
    is_other = await _is_other_key(request, key, parsing.strip_decoration(pasted.api_key))
    prefix = request.state.settings.path_prefix
    # Of a long body this is a tenth of a second: beside the request loop.
    verdict = await asyncio.to_thread(comparison.diagnose, pasted, _secret_of(request, key), prefix)
    if comparison.SECRET_AS_SIGNATURE in verdict.mistakes:
        pasted = msgspec.structs.replace(pasted, signature="")
    return await _show(request, key_id, pasted, verdict, is_other=is_other)


def _pasted(form: Form) -> PastedRequest:
    return PastedRequest(**{name: form.text(name) for name in _FIELDS})


def _has(pasted: PastedRequest, name: str) -> bool:
    return bool(getattr(pasted, name).strip())


async def _is_other_key(request: Request, key: ApiKey, api_key: str) -> bool:
    """Whether the key that was pasted is not the one that was chosen; whose it is, is not told."""
    if not api_key:
        return False
    key_hash = rules.hash_of(api_key)
    found = await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    return found is None or found.id != key.id


def _secret_of(request: Request, key: ApiKey) -> str | None:
    """None of a revoked key: its secret is destroyed."""
    if key.sealed_secret is None:
        return None
    try:
        return request.state.key_ring.open(key.sealed_secret, rules.seal_context(key))
    except UnsealError as error:
        log.error(
            "a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?",
            extra={"key_id": key.id},
        )
        raise ServiceUnavailable(SECRET_UNREADABLE) from error


def _blank(request: Request) -> PastedRequest:
    return PastedRequest(
        "GET", "", "", "", "", "", request.headers.get(b"host", b"").decode("latin-1")
    )


def _of_refusal(request: Request, refused: StoredRefusal) -> PastedRequest:
    return PastedRequest(
        refused.method,
        refused.target,
        refused.timestamp,
        "",
        "",
        "",
        request.headers.get(b"host", b"").decode("latin-1"),
    )


def _known_of(refused: StoredRefusal) -> Verdict:
    """What the guard found when it refused; body and signature are never kept."""
    mistake = refused.diagnosis or ""
    compared = comparison.compare_refusal(
        refused.timestamp, refused.method, refused.target, refused.body_sha256 or "", mistake
    )
    named = [mistake] if mistake else []
    return Verdict(named, is_valid=False, is_known=True, parts=compared)


async def _show(
    request: Request,
    key_id: str,
    pasted: PastedRequest,
    verdict: Verdict | None = None,
    refused: StoredRefusal | None = None,
    *,
    faults: tuple[str, ...] = (),
    is_other: bool = False,
) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[ApiKey], str, list[StoredRefusal]]:
        keys = await _offered(tx, tenant_id, key_id)
        # Without a word the newest: the one that stands in the field.
        shown_id = key_id or (keys[0].id if keys else "")
        last = PageRequest(rules.REFUSALS_KEPT, None)
        return keys, shown_id, await store.list_refusals(tx, tenant_id, shown_id, last)

    keys, shown_id, refusals = await request.read(work)
    return await render.page(
        request, "api_keys/debug.html", 422 if faults else 200,
        keys=keys, key_id=shown_id, pasted=pasted, verdict=verdict, refused=refused,
        refusals=refusals, missing=faults, is_other=is_other,
        skew_s=request.state.settings.max_skew_s, iso=clock.iso,
    )  # fmt: skip


async def _offered(tx: Tx, tenant_id: str, key_id: str) -> list[ApiKey]:
    """The newest keys, and the chosen one however old it is."""
    newest = PageRequest(_KEYS_OFFERED, None)
    keys = (await store.list_keys(tx, tenant_id, newest))[:_KEYS_OFFERED]
    if key_id and all(key.id != key_id for key in keys):
        chosen = await store.find(tx, tenant_id, key_id)
        keys += [chosen] if chosen is not None else []
    return keys
