"""Creates the database: `python -m bench.peers.django_helpdesk.fill < tickets`.

tickets: a JSON object in each line, with the values of a ticket. Prints the token of a superuser.
"""

import json
import sys
from itertools import islice

import django  # type: ignore[import-not-found]

django.setup()

from django.contrib.auth import get_user_model  # type: ignore[import-not-found] # noqa: E402
from django.core.management import call_command  # type: ignore[import-not-found] # noqa: E402
from helpdesk.models import Queue, Ticket  # type: ignore[import-not-found] # noqa: E402
from rest_framework.authtoken.models import (  # type: ignore[import-not-found] # noqa: E402
    Token,
)

_BATCH = 5_000


def main() -> None:
    call_command("migrate", verbosity=0)
    call_command("loaddata", "emailtemplate.json", verbosity=0)
    queue = Queue.objects.create(title="Support", slug="support", allow_public_submission=True)
    tickets = (Ticket(queue=queue, **json.loads(line)) for line in sys.stdin)
    while batch := list(islice(tickets, _BATCH)):
        Ticket.objects.bulk_create(batch)
    user = get_user_model().objects.create_superuser("bench", "bench@example.com", "")
    print(Token.objects.create(user=user).key)


if __name__ == "__main__":
    main()
