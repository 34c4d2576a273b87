"""Mutants of `cli`."""

from tests.mutants.mutant import Mutant

_LISTEN = "tests/cli/test_webhooks_listen.py"
_MCP = "tests/cli/mcp/test_mcp.py"


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
        "cli/webhooks/listen.py",
        "_forward(screen, url, key, bytes(payload))",
        "_forward(screen, url, key, msgspec.json.format(bytes(payload), indent=1))",
        (f"{_LISTEN}::test_new_events_arrive_byte_for_byte_with_valid_signatures",),
    ),
    Mutant(
        "`webhooks listen` skips to the newest event after an outage",
        "client/feed.py",
        "return self._make(self.cursor, self._wait_s if waits else 0)",
        "return self._make(None if self._failures else self.cursor, self._wait_s if waits else 0)",
        (f"{_LISTEN}::test_no_event_is_missed_while_the_service_is_unreachable",),
    ),
    Mutant(
        "doctor does not see an untrusted proxy as a fault",
        "cli/doctor/forwarding.py",
        '"bad" if _is_private(peer) else "note"',
        '"note"',
        ("tests/cli/test_doctor.py::test_a_proxy_that_is_not_trusted_is_reported",),
    ),
    Mutant(
        "`mcp` offers the tools that write without being told so",
        "cli/mcp/server.py",
        "    if may_write:\n",
        "    if may_write or True:\n",
        (f"{_MCP}::test_tools_that_write_are_offered_only_where_they_are_allowed",),
    ),
    Mutant(
        "`mcp` does not cut long texts",
        "cli/mcp/documents.py",
        "if len(text) > max_characters:",
        "if len(text) > 10 * max_characters:",
        (f"{_MCP}::test_long_texts_are_cut_and_pages_go_on",),
    ),
)
