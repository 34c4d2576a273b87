"""The HTTP client for URLs that tenants choose: SSRF-safe, with limits, without redirects.

It never connects to an address in the deny list of `addresses`, whatever a URL or a name server
says; see decision 0014.
"""

from sealdesk.http_client.client import HttpClient
from sealdesk.http_client.connection import HttpResponse
from sealdesk.http_client.errors import RequestFailed

__all__ = ["HttpClient", "HttpResponse", "RequestFailed"]
