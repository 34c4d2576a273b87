"""Error pages, the log-in form in their place, and forms that can be sent again."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from sealdesk.errors import ApiError, Unauthorized, ValidationFailed
from sealdesk.errors.general import FOREIGN_FORM, STORAGE_UNAVAILABLE
from sealdesk.web.pages import forms, preferences, render, resubmission, return_paths
from sealdesk.web.pages.i18n import gettext, gettext_noop, translate
from sealdesk.web.pages.resubmission import Resubmission
from sealdesk.web.request import Request, Response


class _ErrorText(NamedTuple):
    title: str
    advice: str


_STALE_FORM = _ErrorText(
    gettext_noop("This form is out of date"),
    gettext_noop("It belongs to an earlier log-in, so nothing was changed."),
)
_REFUSED = gettext_noop("Nothing was changed")
_NOT_SENT = _ErrorText(
    gettext_noop("This was not sent yet"),
    gettext_noop("Your log-in had expired, so nothing was changed."),
)


def prefers_html(request: Request) -> bool:
    """Whether an error outside the pages' routes is rendered as HTML rather than as JSON."""
    is_api = f"{request.path}/".startswith("/api/")
    return not is_api and b"text/html" in request.headers.get(b"accept", b"")


async def error_page(request: Request, error: ApiError) -> Response:
    """An error page that keeps the submitted form, or for Unauthorized the way to the log-in."""
    preferences.activate_language(request)
    submitted = None
    if request.method == "POST":
        submitted = resubmission.of(request, return_paths.requested_path(request))
    if isinstance(error, Unauthorized):
        return await _ask_to_log_in(request, error, submitted)
    text = _text_of(error, request.site.field_labels)
    is_outage = error.code == STORAGE_UNAVAILABLE.code
    if error.code == FOREIGN_FORM.code and request.visitor and submitted and submitted.typed:
        text = _STALE_FORM
    elif error.status < 500:
        submitted = None
    response = await _message_page(
        request,
        error.status,
        text,
        submitted,
        return_paths.find_return_path(request),
        is_outage and request.method == "GET",
    )
    response.headers += [(name.encode(), value.encode()) for name, value in error.headers]
    return response


def _text_of(error: ApiError, labels: Mapping[str, str]) -> _ErrorText:
    declared = error.problem_type
    if isinstance(error, ValidationFailed) and error.faults:
        # A page that shows none of its fields again, such as those of selected tickets.
        by_field = forms.faults_by_field(error).items()
        advice = (f"{gettext(labels.get(name, name))}: {text}" for name, text in by_field)
        return _ErrorText(_REFUSED, " ".join(advice))
    if declared.page_title:
        return _ErrorText(declared.page_title, declared.page_advice)
    return _ErrorText(declared.title, translate(error))


async def login_page(
    request: Request,
    status: int = 200,
    *,
    next_path: str,
    submitted: Resubmission | None = None,
    email: str = "",
    error_text: str = "",
    has_expired: bool = False,
    pending: str = "",
) -> Response:
    """The log-in form. next_path: where it leads; submitted: the form that it carries along.

    pending: a log-in whose password was right; the form asks for its code.
    """
    return await render.page(
        request,
        "shared/log_in.html",
        status,
        next=next_path,
        resubmission=submitted,
        email=email,
        wrong=error_text,
        has_expired=has_expired,
        pending=pending,
    )


async def resubmission_page(request: Request, submitted: Resubmission, back: str) -> Response:
    """After the log-in: the form that an expired session did not accept, ready to be sent."""
    return await _message_page(request, 200, _NOT_SENT, submitted, back)


async def _ask_to_log_in(
    request: Request, error: ApiError, submitted: Resubmission | None
) -> Response:
    back = return_paths.find_return_path(request)
    if submitted is not None and submitted.typed and return_paths.is_page(request, submitted.to):
        return await login_page(
            request, error.status, next_path=back, submitted=submitted, has_expired=True
        )
    query = f"?next={quote(back, safe='/')}" if back else ""
    return render.redirect(request, f"{return_paths.LOG_IN}{query}")


async def _message_page(
    request: Request,
    status: int,
    text: _ErrorText,
    submitted: Resubmission | None,
    back: str,
    retries: bool = False,
) -> Response:
    if submitted is not None and request.visitor is not None:
        submitted = submitted._replace(token=request.visitor.form_token)
    return await render.page(
        request,
        "shared/error.html",
        status,
        message=text,
        resubmission=submitted,
        back=back,
        retries=retries,
        target=submitted.target(request.site) if submitted else "",
        changed_fields=submitted.describe(request.site.field_labels) if submitted else [],
        request_id=request.request_id if status >= 400 else "",
    )
