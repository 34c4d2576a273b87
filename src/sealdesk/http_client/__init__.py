"""Requests to addresses that tenants name: guarded, bounded, never redirected.

Nothing here may be reached that the deny table of `addresses` names, whatever a URL or a name
server says; see decision 0014.
"""

from sealdesk.http_client.client import HttpClient
from sealdesk.http_client.connection import HttpResponse
from sealdesk.http_client.errors import RequestFailed

__all__ = ["HttpClient", "HttpResponse", "RequestFailed"]
