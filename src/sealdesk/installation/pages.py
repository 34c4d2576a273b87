"""Settings → Installation: what is wrong with it, for the administrators of all desks."""

from sealdesk.installation.api import describe
from sealdesk.web.operation import page
from sealdesk.web.pages import render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/installation"
NAV_ITEM = NavItem(_PATH, gettext_noop("Installation"), section="installation")
ROOM = Room("installation", nav_item=NAV_ITEM)


@page
async def show_installation(request: Request) -> Response:
    """The issues, what was not looked at, and the routes that the process is busiest with."""
    return await render.page(request, "installation/installation.html", state=describe(request))
