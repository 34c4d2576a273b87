"""The mutants by the folder of their source file, or by their subject where it spans several.

Each `old` occurs once in its file. The changes are plausible mistakes: the service still starts and
responds.
"""

from tests.mutants.catalogue import (
    api_keys,
    attachments,
    audit_log,
    cli,
    crypto,
    customers,
    db,
    event_log,
    feed,
    foundation,
    http_client,
    identity,
    live,
    macros,
    merging,
    rate_limits,
    search,
    server,
    storage,
    tags,
    telemetry,
    tickets,
    views,
    web,
    webhooks,
    worker,
)
from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *api_keys.MUTANTS,
    *attachments.MUTANTS,
    *audit_log.MUTANTS,
    *cli.MUTANTS,
    *crypto.MUTANTS,
    *customers.MUTANTS,
    *db.MUTANTS,
    *event_log.MUTANTS,
    *feed.MUTANTS,
    *foundation.MUTANTS,
    *http_client.MUTANTS,
    *identity.MUTANTS,
    *live.MUTANTS,
    *macros.MUTANTS,
    *merging.MUTANTS,
    *rate_limits.MUTANTS,
    *search.MUTANTS,
    *server.MUTANTS,
    *storage.MUTANTS,
    *tags.MUTANTS,
    *telemetry.MUTANTS,
    *tickets.MUTANTS,
    *views.MUTANTS,
    *web.MUTANTS,
    *webhooks.MUTANTS,
    *worker.MUTANTS,
)
