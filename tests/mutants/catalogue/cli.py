"""Mutants of `cli`."""

from tests.mutants.mutant import Mutant

_LISTEN = "tests/cli/test_webhooks_listen.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "doctor does not notice that a cache gives responses to unsigned requests",
        "cli/doctor/public_url.py",
        "    if unsigned.status == 200:\n",
        "    if unsigned.status == 299:\n",
        ("tests/cli/test_public_url.py::test_cached_responses_are_reported",),
    ),
    Mutant(
        "doctor reports no alteration for a path that the service does not know",
        "cli/doctor/diagnosis.py",
        '    if code == "not_found":\n        return _diagnose_path(',
        '    if code == "not_found":\n        return None\n    if code == "nowhere":\n'
        "        return _diagnose_path(",
        ("tests/cli/test_public_url.py::test_what_a_proxy_decodes_is_reported",),
    ),
    Mutant(
        "doctor compares decoded paths instead of their bytes",
        "cli/doctor/diagnosis.py",
        "    if target != arrived:\n",
        '    unquote = __import__("urllib.parse").parse.unquote\n'
        "    if unquote(target) != unquote(arrived):\n",
        ("tests/cli/test_public_url.py::test_nginx_with_a_path_in_proxy_pass_is_reported",),
    ),
    Mutant(
        "`webhooks listen` serialises events again",
        "cli/webhooks/feed.py",
        "yield [bytes(event) for event in page.data]",
        "yield [json_text.dumps(json_text.loads(event)).encode() for event in page.data]",
        (f"{_LISTEN}::test_new_events_arrive_byte_for_byte_with_valid_signatures",),
    ),
    Mutant(
        "`webhooks listen` skips to the newest event after an outage",
        "cli/webhooks/feed.py",
        'page = self._read_page({"cursor": self.cursor}, wait_s',
        'page = self._read_page({"start": "latest"} if failures else {"cursor": self.cursor},'
        " wait_s",
        (f"{_LISTEN}::test_no_event_is_missed_while_the_service_is_unreachable",),
    ),
    Mutant(
        "doctor does not see an untrusted proxy as a fault",
        "cli/doctor/forwarding.py",
        '"bad" if _is_private(peer) else "note"',
        '"note"',
        ("tests/cli/test_doctor.py::test_a_proxy_that_is_not_trusted_is_reported",),
    ),
)
