"""The pages of customers: the list, its export, and a form to edit one."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.customers import actions, errors, labels, rules, store
from sealdesk.customers.store import Filter
from sealdesk.customers.types import Customer, CustomerChange, CustomerResponse
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, QueryTooSlow, ValidationFailed
from sealdesk.resources.addresses import is_stand_in, known_address
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.web import body, csv_export
from sealdesk.web.csv_export import CsvExport, CsvPart, ExportPage, with_lf
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/customers"
NAV_ITEM = NavItem(_PATH, gettext_noop("Customers"), section="main")
ROOM = Room("customers", errors, labels, NAV_ITEM, object_type="customer")
_PER_PAGE, _SUGGESTIONS = 50, 8
_MAX_QUERY_LENGTH = 320
_FIELDS = ("email", "name", "phone", "company", "external_id")
_LISTS = ("other_emails", "other_phones")  # one in each line
_HEADER = (*_FIELDS, *_LISTS, "created_at", "updated_at", "metadata", "id")


@page
async def list_customers(request: Request) -> Response:
    """All customers, newest first, or those that match a search."""
    query = forms.read_query(request)
    trail, q = cursor_trail.read(query), query.text("q").strip()[:_MAX_QUERY_LENGTH]
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    is_too_slow = False
    try:
        customers = await _list(request, q, page_request)
    except QueryTooSlow:
        customers, is_too_slow = [], True
    has_more = len(customers) > _PER_PAGE
    return await render.page(
        request,
        "customers/customers.html",
        503 if is_too_slow else 200,
        customers=[rules.to_response(customer) for customer in customers[:_PER_PAGE]],
        q=q,
        is_too_slow=is_too_slow,
        older=cursor_trail.older(trail, customers[_PER_PAGE - 1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
    )


@page
async def suggest_customers(request: Request) -> Response:
    """Customers by name, phone number or part of the address, as options."""
    q = forms.read_query(request).text("q").strip()[:_MAX_QUERY_LENGTH]
    try:
        found = await _list(request, q, PageRequest(_SUGGESTIONS, None)) if q else []
    except QueryTooSlow:
        found = []
    return await render.page(request, "customers/suggestions.html", customers=found[:_SUGGESTIONS])


@page
async def ask_export(request: Request) -> Response:
    """The page that says how many customers there are, and begins the export."""
    return await csv_export.show_page(request, await _export_page(request))


@page
async def export_customers(request: Request) -> Response:
    """All customers as a CSV file, newest first."""
    if not csv_export.has_room(request):
        return await csv_export.show_page(request, await _export_page(request), is_busy=True)

    async def read(page_request: PageRequest) -> CsvPart:
        listed = await _list(request, "", page_request)
        shown = take_page(listed, page_request, lambda each: len(rules.to_json(each)))
        after = shown[-1].id if len(listed) > len(shown) else None
        return CsvPart([_row(rules.to_response(each)) for each in shown], after)

    return await csv_export.send_file(request, CsvExport("customers", _HEADER, read, {}))


@page
async def edit_customer(request: Request, customer_id: str) -> Response:
    """The form with the current values of a customer."""
    customer = await _get(request, customer_id)
    return await _form(request, customer, _values(customer))


@page
async def change_customer(request: Request, customer_id: str) -> Response:
    """Change a customer, unless somebody else has changed it since the form was opened."""
    form = forms.read(request)
    typed = _typed(form)
    etag = form.text("etag")
    try:
        wanted = _as_json(typed, await _get(request, customer_id))
        change = body.convert(wanted, CustomerChange)
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
    except (ValidationFailed, Conflict) as error:
        return await _form(request, await _get(request, customer_id), typed, error, sent=form)
    except PreconditionFailed as error:
        customer = await _get(request, customer_id)
        return await _form(request, customer, _merge(customer, typed, form), error, sent=form)
    return render.redirect(request, f"{_PATH}/{customer_id}")


async def _list(request: Request, q: str, page_request: PageRequest) -> list[Customer]:
    tenant_id = request.caller.tenant_id
    if q:
        return await actions.find_customers(request.state, tenant_id, q, page_request)
    return await request.fetch(store.list_customers, Filter(), page_request)


async def _export_page(request: Request) -> ExportPage:
    tenant_id, most = request.caller.tenant_id, csv_export.MAX_ROWS + 1
    total = await request.read_unindexed(lambda tx: store.count_customers(tx, tenant_id, most))
    file = f"{_PATH}/export/file"
    return ExportPage(gettext("Customers"), "customers", _PATH, file, total)


def _row(customer: CustomerResponse) -> Sequence[str]:
    metadata = customer.metadata
    texts = [with_lf(getattr(customer, name)) for name in _FIELDS]
    encoded = msgspec.json.encode(metadata).decode() if metadata else ""
    texts += [", ".join(map(with_lf, getattr(customer, name))) for name in _LISTS]
    return [*texts, customer.created_at, customer.updated_at, encoded, customer.id]


def _values(customer: Customer) -> dict[str, str]:
    texts = {name: known_address(getattr(customer, name) or "") for name in _FIELDS}
    lines = {name: map(known_address, getattr(customer, name)) for name in _LISTS}
    return texts | {name: "\n".join(filter(None, lines[name])) for name in _LISTS}


def _typed(form: Form, before: str = "") -> dict[str, str]:
    """The fields of the form, or what they were when it was opened."""
    texts = {name: form.text(f"{before}{name}").strip() for name in (*_FIELDS, *_LISTS)}
    return texts | {name: "\n".join(_split_lines(texts[name])) for name in _LISTS}


def _split_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _as_json(typed: dict[str, str], customer: Customer) -> dict[str, Any]:
    """The typed values as the API takes them: an empty field is null, but for the address.

    What stands in for addresses is in no field, and stays.
    """
    email = typed["email"] or (customer.email if is_stand_in(customer.email) else "")
    texts = {name: typed[name] or None for name in _FIELDS} | {"email": email}
    lists = {name: _split_lines(typed[name]) for name in _LISTS}
    lists["other_emails"] += filter(is_stand_in, customer.other_emails)
    return texts | lists


async def _get(request: Request, customer_id: str) -> Customer:
    return await request.fetch(actions.get_customer, customer_id)


async def _form(
    request: Request,
    customer: Customer,
    typed: dict[str, str],
    error: ApiError | None = None,
    sent: Form | None = None,
) -> Response:
    """The form with the typed values, the errors, and what others have changed meanwhile."""
    is_stale = isinstance(error, PreconditionFailed)
    return await render.page(
        request,
        "customers/edit_customer.html",
        error.status if error else 200,
        customer=rules.to_response(customer),
        etag=rules.etag(customer),
        typed=typed,
        was=_values(customer),
        faults=forms.messages(error)["faults"],
        existing_id=error.members.get("existing_id", "") if isinstance(error, Conflict) else "",
        is_stale=is_stale,
        news=_changed_values(customer, sent) if is_stale and sent is not None else {},
    )


def _merge(customer: Customer, typed: dict[str, str], sent: Form) -> dict[str, str]:
    """The typed values; a field that was left as it was gets its current value."""
    current, was = _values(customer), _typed(sent, "was_")
    return {name: value if value != was[name] else current[name] for name, value in typed.items()}


def _changed_values(customer: Customer, sent: Form) -> dict[str, str]:
    """The values that others have changed since the form was opened."""
    was = _typed(sent, "was_")
    return {name: value for name, value in _values(customer).items() if value != was[name]}
