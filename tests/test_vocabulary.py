"""Words that the project has replaced stay out of the source, the tests and the documents.

Each has a term of the field instead (decision 0027). An entry matches as a whole identifier; a
phrase also matches across a line break.
"""

import re
from pathlib import Path

import pytest

from tests.support.for_each import for_each

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "docs")
KINDS = {".py", ".md", ".html", ".js", ".sh", ".toml"}
# The interface is another's text.
EXCLUDED = ("docs/spec/", "tests/test_vocabulary.py")
# What replaced them: Unauthorized, ApiError, SerializationConflict, find_across_tenants,
# execute_many, read_unindexed, write_in_background, deadline, shared_memory, http_client, …
IDENTIFIERS = {
    "Unproven", "Refusal", "NotSerialized", "Overtaken", "Asked", "Harm", "Shared", "Tally",
    "find_home", "run_all", "read_slowly", "write_aside", "patience", "retelling", "judged",
    "fitness", "tally", "outbound", "viewing", "in_ones_own", "gives_way", "give_way",
    "hurried", "standstill", "swelling", "Crowd", "crowd", "crowded", "barriers", "BARRIERS",
    "plants", "planted", "proofs", "PROOFS", "lay_out", "HurryingServer", "OF_TENANTS",
    "until_found", "assert_guarded",
    "Aftermath", "AgentShown", "Answered", "ApiKeyShown", "AttemptShown", "CustomerShown", "DEEDS",
    "Deed", "DeliveryShown", "Doors", "EventShown", "LONGEST_QUESTION", "LogInGuard", "MOST_FOUND",
    "PLANTS", "Plant", "Referred", "RefusalShown", "ReplayShown", "ReplyShown",
    "TicketShown", "TooLarge", "TooMany", "TooSlow", "Unsealable", "Unsent", "UserShown",
    "WebhookShown", "WrongAnswer", "WrongType", "_CAREFUL", "_EVERYBODY", "_OFFICE", "add_or_name",
    "aftermath", "answer_form", "ask_again", "began_us", "beginnings_of", "body_waited",
    "check_is_kept", "drop_resets_of", "end_answering", "extracting", "faults_of_range",
    "find_broken_rules", "find_twin", "forget_attempt", "forms_asked", "full_until", "givable",
    "had_ended", "heeded", "in_turns", "is_careful", "is_use_due", "keep_placing", "keep_written",
    "let_in", "list_answering", "list_deeds", "match_of", "mends", "most_changes",
    "note_answering", "note_attempt", "note_export", "note_unplaced", "noted_text", "once_key",
    "once_more", "po_file", "prove_password", "query_of", "read_claim", "read_reference", "rekey",
    "reply_shown", "retold", "side_by_side", "signed_instead", "spellings", "summary_of_reference",
    "tell_news", "terms_of", "try_webhook", "unproven", "unsendable", "vector_of", "withheld",
    "within_write", "words_of", "write_last",
}  # fmt: skip
# Common English otherwise, so only where they would be the old names.
PATTERNS = [
    r"\btx\.(?:first|all|put|send|draw|claim|enter|find_home|run_all)\(",
    r"\bclass (?:Answer|Call|Clash|Stale|Malformed|Unfit|Missing|Shown|Asked|Found)\b",
    r"\bfrom sealdesk\.(?:ground|shared|tally|outbound|afterwards|neighbours|fitness|admin)\b",
    r"\bsealdesk\.web\.(?:call|answer|words|retelling|kept)\b",
    r"\btests\.(?:plants|proofs|stem|texts|making)\b",
]
PHRASES = [
    "whatever came", "once proven", "in one's own name", "takes a text for HTML",
    "the password once more", "what came of", "whatever else came",
]  # fmt: skip
REMOVED = [
    re.compile(pattern)
    for pattern in (*PATTERNS, *(phrase.replace(" ", r"\s+") for phrase in PHRASES))
]


def removed_words(text: str) -> list[str]:
    """The removed words of a text, each with its line number."""
    names = IDENTIFIERS.intersection(re.findall(r"\w+", text))
    patterns = [re.compile(rf"\b{name}\b") for name in sorted(names)] + REMOVED
    return [
        f"{text.count(chr(10), 0, found.start()) + 1}: {found.group()}"
        for pattern in patterns
        for found in pattern.finditer(text)
    ]


def test_removed_words_stay_out() -> None:
    found = {}
    for path in (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in KINDS and not name.startswith(EXCLUDED):
            found[name] = removed_words(path.read_text())
    assert {name: words for name, words in found.items() if words} == {}


@for_each(
    "text",
    [
        "raise Unproven()", "row = await tx.first(sql)", "class Answer(Struct):",
        "from sealdesk.ground import x", "a planted fault", "the password\n    once more",
    ],
)  # fmt: skip
def test_a_removed_word_is_found(text: str) -> None:
    assert len(removed_words(f"\n{text}\n")) == 1
    assert removed_words(f"\n{text}\n")[0].startswith("2: ")


@pytest.mark.parametrize(
    "text", ["the first answer", "a tallying sum", "tx.fetch_all(", "class Answers:", "Crowded"]
)
def test_common_english_is_allowed(text: str) -> None:
    assert removed_words(text) == []
