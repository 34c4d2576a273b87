"""Mutants of `feed`."""

from tests.mutants.mutant import Mutant

_FEED = "tests/feed"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the feed shows every type to every key",
        "feed/rules.py",
        "        return [kind for kind, needs in NEEDS.items() if not may.isdisjoint(needs)]\n",
        "        return list(NEEDS)\n",
        (f"{_FEED}/test_feed.py::test_each_type_is_shown_only_with_its_permission",),
    ),
    Mutant(
        "a waiting request is not authenticated again",
        "feed/api.py",
        "            await request.prove_again()\n",
        "",
        (
            f"{_FEED}/test_waiting.py::test_revoking_the_key_ends_the_wait",
            f"{_FEED}/test_waiting.py::test_a_revoked_key_gets_no_events",
            f"{_FEED}/test_waiting.py::test_rotating_the_secret_ends_the_wait",
            f"{_FEED}/test_waiting.py::test_the_expiry_of_the_key_ends_the_wait",
        ),
    ),
    Mutant(
        "a service that shuts down does not answer waiting requests",
        "feed/api.py",
        " and not state.lifetime.is_draining",
        "",
        (f"{_FEED}/test_waiting.py::test_a_shutdown_answers_waiting_requests",),
    ),
    Mutant(
        "a request keeps waiting after its client has disconnected",
        "feed/api.py",
        "    disconnected = asyncio.ensure_future(request.until_gone())\n",
        "    disconnected = loop.create_future()\n",
        (f"{_FEED}/test_waiting.py::test_a_disconnected_client_ends_the_wait",),
    ),
    Mutant(
        "any number of a tenant's requests may wait for events",
        "feed/api.py",
        "            if not tenant_may:\n",
        "            if False:\n",
        (
            "tests/feed/test_waiting.py"
            "::test_only_the_tenant_with_too_many_waiting_requests_is_refused",
        ),
    ),
)
