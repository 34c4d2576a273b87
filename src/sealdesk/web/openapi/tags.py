"""The tags of operations, which are the sections of the reference."""

TAGS = {
    "Tickets": "Support requests of customers, from open to closed.",
    "Replies": "Public replies and internal notes on a ticket.",
    "Attachments": "Files of tickets and replies.",
    "Customers": "The people who open tickets; an e-mail address is unique within the tenant.",
    "Reports": "What happened to tickets in a period, counted.",
    "Events": "All changes in order, for integrations that follow them.",
    "API keys": "For administrators: the keys of the external API, their permissions and limits.",
    "Teams": "For administrators: teams, their members, and how their tickets are assigned.",
    "Webhooks": "For administrators: the endpoints that receive events, and their deliveries.",
    "Mailboxes": "For administrators: addresses that receive and send, and blocked senders.",
    "Custom fields": "For administrators: the fields that tickets have besides the built-in ones.",
    "Macros": "For administrators: canned replies, and what they set on a ticket.",
    "Rules": "For administrators: what the desk does with tickets by itself.",
    "SLA policies": "For administrators: by when the desk promises to answer and to resolve.",
    "Log-in": "Access tokens and passwords of users.",
    "Basics": "The first requests to make, and monitoring for operators.",
}


def path_of_tag(tag: str) -> str:
    """The path of the document of a tag: `/openapi/api-keys.json`."""
    return f"/openapi/{tag.lower().replace(' ', '-')}.json"
