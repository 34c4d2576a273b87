"""Settings → API keys → Debug: finds out why a signature is wrong; shows no secret."""

import logging

import msgspec

from sealdesk import clock
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.debugger import comparison, parsing
from sealdesk.api_keys.debugger.comparison import Verdict
from sealdesk.api_keys.debugger.parsing import PastedRequest
from sealdesk.api_keys.errors import SECRET_UNREADABLE, TIMESTAMP_OUT_OF_RANGE
from sealdesk.api_keys.types import ApiKey, StoredRefusal
from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.crypto.sealing import UnsealError
from sealdesk.db import threads
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound, ServiceUnavailable, must_exist
from sealdesk.resources.paging import PageRequest
from sealdesk.web.form import MAX_TEXT, Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_KEYS_OFFERED = 100
_FIELDS = ("method", "target", "timestamp", "body", "signature", "api_key", "host")

log = logging.getLogger("sealdesk.api_keys")


@page
async def ask(request: Request) -> Response:
    """The form, the recorded refusals of the selected key, and the details of a selected one."""
    query = forms.read_query(request)
    key_id, refusal_id = query.text("key"), query.text("refusal")
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> StoredRefusal | None:
        if key_id and await store.find(tx, tenant_id, key_id) is None:
            raise NotFound
        if not refusal_id:
            return None
        return must_exist(await store.find_refusal(tx, tenant_id, key_id, refusal_id))

    refused = await request.read(work)
    if refused is None:
        return await _render(request, key_id, _empty_request(request))
    return await _render(
        request, key_id, _from_refusal(request, refused), _verdict_of_refusal(refused), refused
    )


@page
async def debug(request: Request) -> Response:
    """The diagnosis of a pasted request, which is not stored."""
    form = forms.read(request)
    key_id = form.text("key")
    key = await request.fetch(store.find, key_id)
    pasted = _read_pasted_request(form)
    if key is None:
        return await _render(request, key_id, pasted, faults=("key",))
    missing = [name for name in ("method", "target", "timestamp") if not _has_field(pasted, name)]
    if not pasted.signature.strip():
        missing.append("signature")
    if missing:
        return await _render(request, key_id, pasted, faults=tuple(missing))
    is_other = await _is_other_key(request, key, parsing.strip_decoration(pasted.api_key))
    prefix = request.state.settings.path_prefix
    # In a thread: a long body takes 0.1 s, which would block the event loop.
    verdict = await threads.run_in(
        None, comparison.diagnose, pasted, _secret_of(request, key), prefix
    )
    if comparison.SECRET_AS_SIGNATURE in verdict.mistakes:
        pasted = msgspec.structs.replace(pasted, signature="")
    return await _render(request, key_id, pasted, verdict, is_other=is_other)


def _read_pasted_request(form: Form) -> PastedRequest:
    return PastedRequest(**{name: form.whole_text(name) for name in _FIELDS})


def _has_field(pasted: PastedRequest, name: str) -> bool:
    return bool(getattr(pasted, name).strip())


async def _is_other_key(request: Request, key: ApiKey, api_key: str) -> bool:
    """Whether the pasted key is not the selected one; its owner is not revealed."""
    if not api_key:
        return False
    key_hash = rules.hash_of(api_key)
    owner = await request.state.database.read(lambda tx: store.find_by_hash(tx, key_hash))
    return owner is None or owner.id != key.id


def _secret_of(request: Request, key: ApiKey) -> str | None:
    """None for a revoked key, whose secret is destroyed."""
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


def _empty_request(request: Request) -> PastedRequest:
    return PastedRequest(
        "GET", "", "", "", "", "", request.headers.get(b"host", b"").decode("latin-1")
    )


def _from_refusal(request: Request, refused: StoredRefusal) -> PastedRequest:
    return PastedRequest(
        refused.method,
        refused.target,
        refused.timestamp,
        "",
        "",
        "",
        request.headers.get(b"host", b"").decode("latin-1"),
    )


def _verdict_of_refusal(refused: StoredRefusal) -> Verdict:
    """The guard's diagnosis of a recorded refusal, which has no body and no signature."""
    mistake = refused.diagnosis or ""
    parts = comparison.compare_refusal(
        refused.timestamp, refused.method, refused.target, refused.body_sha256 or "", mistake
    )
    # A refusal of an earlier version may have a diagnosis that is no longer made.
    mistakes = [mistake] if mistake in MISTAKES else []
    return Verdict(mistakes, is_valid=False, is_known=True, parts=parts)


async def _render(
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
        keys = await _list_keys(tx, tenant_id, key_id)
        # By default the newest key, which the field shows.
        listed_id = key_id or (keys[0].id if keys else "")
        newest_page = PageRequest(rules.REFUSALS_KEPT, None)
        return keys, listed_id, await store.list_refusals(tx, tenant_id, listed_id, newest_page)

    keys, listed_id, refusals = await request.read(work)
    return await render.page(
        request,
        "api_keys/debug.html",
        422 if faults else 200,
        keys=keys,
        key_id=listed_id,
        pasted=PastedRequest(*(each[:MAX_TEXT] for each in msgspec.structs.astuple(pasted))),
        is_cut=len(pasted.body) > MAX_TEXT,
        verdict=verdict,
        refused=refused,
        refusals=refusals,
        missing=faults,
        mistakes=MISTAKES,
        is_other=is_other,
        skew_s=request.state.settings.max_skew_s,
        iso=clock.iso,
        clock_error_s=_clock_error_s(refused) if refused else None,
    )


def _clock_error_s(refused: StoredRefusal) -> int | None:
    """How far the timestamp was behind the server's time, None if it was not refused for that."""
    if refused.code != TIMESTAMP_OUT_OF_RANGE.code:
        return None
    return refused.refused_at // 1_000_000 - int(refused.timestamp)


async def _list_keys(tx: Tx, tenant_id: str, key_id: str) -> list[ApiKey]:
    """The newest keys, and the selected one even if it is older."""
    newest = PageRequest(_KEYS_OFFERED, None)
    keys = (await store.list_keys(tx, tenant_id, newest))[:_KEYS_OFFERED]
    if key_id and all(key.id != key_id for key in keys):
        chosen = await store.find(tx, tenant_id, key_id)
        keys += [chosen] if chosen is not None else []
    return keys
