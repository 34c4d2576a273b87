"""The struct of a saved report."""

import msgspec


class SavedReport(msgspec.Struct, frozen=True):
    """A report that a user gets each Monday, as it is stored.

    query: of the page of the report, without its period. base_url: what its links begin with.
    due_at: of the next one.
    """

    tenant_id: str
    id: str
    user_id: str
    query: str
    language: str
    base_url: str
    created_at: int
    due_at: int
