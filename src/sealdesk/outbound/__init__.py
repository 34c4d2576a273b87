"""Requests to addresses that tenants name: guarded, bounded, never redirected.

Nothing here may be reached that the deny table of `addresses` names, whatever a URL or a name
server says; see decision 0014.
"""

from sealdesk.outbound.connection import Answered
from sealdesk.outbound.failure import Unsent
from sealdesk.outbound.sender import Sender

__all__ = ["Answered", "Sender", "Unsent"]
