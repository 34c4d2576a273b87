"""Every table of the schema is erased by a stage, or has a reason why it is not."""

from sealdesk.db.schema import metadata
from sealdesk.tickets.erasing.steps.actions import STAGES
from tests.support.statements import statements

AT_ONCE = {
    "customers",
    "customer_addresses",
    "customer_merges",
    "erasures",
}  # by the request itself
BY_STAGE: dict[str, set[str]] = {
    "customer": {"customer_documents"},
    "earlier": set(),  # reads the events
    "participants": {"ticket_participants"},
    "outgoing": {"outgoing_messages"},
    "received": {"received_messages"},
    "submissions": {"form_submissions"},
    "replies": {"replies", "attachments"},
    "changes": {"ticket_changes"},
    "tickets": {"tickets", "attachments", "ticket_links", "held_replies"},
    "merged": {"ticket_merges"},
    "search": {"search_documents"},
    "outbox": {"event_outbox"},
    "events": {"events"},
    "attempts": {"attempts"},
    "responses": {"idempotency"},
    "refusals": {"refusals"},
    "audit": {"audit"},
    "views": {"views"},
    "notifications": {"notifications"},
    "words": {"search_documents", "customer_documents"},
}
_IDS = "ids, numbers and times only"
_OF_USERS = "about users of the desk, not about customers"
_OF_DESK = "what administrators write for all customers"
NOT_ERASED = {
    **dict.fromkeys(
        (
            *("answering", "viewers", "reads", "ticket_followers", "attachment_usage", "epochs"),
            *("deliveries", "replays", "fan_out_backlogs", "feed_positions", "log_positions"),
            *("consumer_positions", "automation_tasks", "automation_effects", "sla_renewals"),
            *("ticket_measures", "report_sums", "report_rebuilds"),
            *("key_usage", "presence_counters", "search_rebuilds", "ticket_numbers"),
            *("test_tenants", "tenants", "used_signatures"),
        ),
        _IDS,
    ),
    **dict.fromkeys(
        (
            *("users", "user_addresses", "user_directory", "second_factors", "reset_links"),
            *("ended_tokens", "login_failures", "team_members", "saved_reports"),
        ),
        _OF_USERS,
    ),
    **dict.fromkeys(
        (
            *(
                "business_hours",
                "field_definitions",
                "macros",
                "automation_rules",
                "sla_policies",
                "rating_settings",
                "reply_settings",
                "teams",
                "mailboxes",
                "mailbox_directory",
            ),
            *("endpoints", "api_keys", "api_key_directory", "contact_forms"),
        ),
        _OF_DESK,
    ),
    "ticket_tags": "tags stay, as the page says; they are words of the desk",
    "tag_renamings": "tags stay, as the page says; they are words of the desk",
    "request_log": "has paths of routes, and no values",
    "ticket_message_ids": "hashes of Message-IDs, from which nobody is read",
    "installation_notes": "of processes and backups; an issue may name a mailbox, for a day",
    "mail_blocks": "who is blocked stays blocked; an administrator can remove it",
}


def test_each_stage_says_which_tables_it_erases() -> None:
    assert BY_STAGE.keys() == STAGES.keys()


def test_every_table_is_erased_or_has_a_reason() -> None:
    erased = AT_ONCE.union(*BY_STAGE.values())
    assert erased.isdisjoint(NOT_ERASED)
    assert erased | NOT_ERASED.keys() == metadata.tables.keys()


def test_the_statements_of_the_stages_write_these_tables() -> None:
    written = {
        each.tables[0]
        for each in statements()
        if each.name.startswith("tickets/erasing/") and each.verb in ("UPDATE", "DELETE")
    }
    elsewhere = {
        "customers",
        "customer_addresses",
        "ticket_links",
        "held_replies",
        "search_documents",
        "customer_documents",
        "event_outbox",
    }
    assert AT_ONCE.union(*BY_STAGE.values()) - elsewhere <= written
