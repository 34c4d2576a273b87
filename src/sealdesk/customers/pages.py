"""Customers as pages: the list, and a form for what is known of them."""

from typing import Any

from sealdesk.customers import actions, rules, store
from sealdesk.customers.store import Filter
from sealdesk.customers.types import Customer, CustomerChange
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, QueryTooSlow, ValidationFailed
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.forms import Form
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response
from sealdesk.web.router import page

_PATH = "/customers"
NAV_ITEM = NavItem(_PATH, gettext_noop("Customers"), is_for_all=True)
_PER_PAGE = 50
_LONGEST = 320
_FIELDS = ("email", "name", "phone", "company", "external_id")


@page
async def list_customers(request: Request) -> Response:
    """All of them, newest first, or those whom words lead to."""
    asked = forms.read_query(request)
    way, q = cursor_trail.read(asked), asked.text("q").strip()[:_LONGEST]
    wanted = PageRequest(_PER_PAGE, [way[-1]] if way else None)
    is_too_slow = False
    try:
        if q:
            found = await actions.find_customers(request.state, request.caller.tenant_id, q, wanted)
        else:
            found = await request.read(
                lambda tx: store.list_customers(tx, request.caller.tenant_id, Filter(), wanted)
            )
    except QueryTooSlow:
        found, is_too_slow = [], True
    return await render.page(
        request, "customers/customers.html", 503 if is_too_slow else 200,
        customers=[rules.shown(each) for each in found[:_PER_PAGE]],
        q=q, is_too_slow=is_too_slow,
        older=cursor_trail.older(way, found[_PER_PAGE - 1].id) if len(found) > _PER_PAGE else None,
        newer=cursor_trail.newer(way),
    )  # fmt: skip


@page
async def edit_customer(request: Request) -> Response:
    """The form of a customer as they are."""
    customer = await _get(request)
    return await _form(request, customer, _known(customer))


@page
async def change_customer(request: Request) -> Response:
    """Change what is known of a customer, unless it has changed meanwhile."""
    form, (customer_id,) = forms.read(request), request.params
    typed = {name: form.text(name).strip() for name in _FIELDS}
    etag = form.text("etag")
    try:
        change = body.convert(_wanted(typed), CustomerChange)
        await request.write(
            lambda tx: actions.change_customer(
                tx,
                request.caller.tenant_id,
                customer_id,
                change,
                if_match=(etag,),
                now_us=request.now_us,
            )
        )
    except (ValidationFailed, Conflict) as refusal:
        return await _form(request, await _get(request), typed, refusal, sent=form)
    except PreconditionFailed as refusal:
        customer = await _get(request)
        return await _form(request, customer, _merged(customer, typed, form), refusal, sent=form)
    return render.redirect(request, f"{_PATH}/{customer_id}")


def _known(customer: Customer) -> dict[str, str]:
    return {name: getattr(customer, name) or "" for name in _FIELDS}


def _wanted(typed: dict[str, str]) -> dict[str, Any]:
    """What was typed, as the API takes it: what is empty is cleared, but for the address."""
    return {name: value or (None if name != "email" else "") for name, value in typed.items()}


async def _get(request: Request) -> Customer:
    (customer_id,) = request.params
    return await request.read(
        lambda tx: actions.get_customer(tx, request.caller.tenant_id, customer_id)
    )


async def _form(
    request: Request,
    customer: Customer,
    typed: dict[str, str],
    refusal: ApiError | None = None,
    sent: Form | None = None,
) -> Response:
    """The form with what was typed, what is wrong, and what others have changed meanwhile."""
    is_stale = isinstance(refusal, PreconditionFailed)
    return await render.page(
        request, "customers/edit_customer.html", refusal.status if refusal else 200,
        customer=rules.shown(customer), etag=rules.etag(customer), typed=typed,
        fields=_FIELDS,
        faults=forms.faults_by_field(refusal) if isinstance(refusal, ValidationFailed) else {},
        existing_id=refusal.members.get("existing_id", "") if isinstance(refusal, Conflict) else "",
        is_stale=is_stale,
        news=_news(customer, sent) if is_stale and sent is not None else {},
    )  # fmt: skip


def _merged(customer: Customer, typed: dict[str, str], sent: Form) -> dict[str, str]:
    """What was typed, and where nothing was typed what others have made of it meanwhile."""
    now = _known(customer)
    return {
        name: value if value != sent.text(f"was_{name}") else now[name]
        for name, value in typed.items()
    }


def _news(customer: Customer, sent: Form) -> dict[str, str]:
    """What is known now and was not when the form was opened."""
    return {
        name: value for name, value in _known(customer).items() if value != sent.text(f"was_{name}")
    }
