"""The error codes of links between tickets."""

from sealdesk.errors import ProblemType, gettext_noop

LINKED_OTHERWISE = ProblemType(
    code="linked_otherwise",
    status=409,
    title="The tickets are linked in another way",
    message=gettext_noop('These tickets are linked already, with the relation "%(relation)s".'),
    meaning="Two tickets have at most one link; `relation` is that of the ticket in the path.",
    remedy="Remove that link first.",
    example={"relation": "relates_to"},
    members=("relation",),
)
LINK_CIRCLE = ProblemType(
    code="link_circle",
    status=409,
    title="The tickets would block each other",
    message=gettext_noop(
        "The blocked ticket blocks the other one already, itself or through other tickets."
    ),
    meaning="A ticket cannot wait for one that waits for it.",
    remedy="Link them the other way round or as `relates_to`, or remove a link between them.",
)
TOO_MANY_LINKS = ProblemType(
    code="too_many_links",
    status=409,
    title="Too many links",
    message=gettext_noop("Each of the two tickets can have at most %(limit)s links."),
    meaning="One of the two tickets has 50 links.",
    remedy="Remove another link of that ticket first.",
    example={"limit": 50},
)
