"""The error codes of merging and splitting tickets."""

from sealdesk.errors import ProblemType

MERGE_INTO_ITSELF = ProblemType(
    code="merge_into_itself",
    status=409,
    title="Nothing can be merged into itself",
    message="These are the same ticket. Name another one in `into`.",
    meaning="`into` is the id of the ticket or customer that is to be merged.",
    remedy="Send the id of the one that stays.",
)
TOO_MANY_REPLIES = ProblemType(
    code="too_many_replies",
    status=409,
    title="Too many replies to move",
    message="At most %(max_replies)s replies and notes can move to another ticket at once.",
    meaning="The replies move in one transaction, which other writes wait for.",
    remedy=(
        "Merge the other way round, or split at a later reply. If both tickets have more, link them"
        " as `duplicate_of`."
    ),
    example={"max_replies": 1000},
)
NOT_MERGED = ProblemType(
    code="not_merged",
    status=409,
    title="There is no merge to undo",
    message="This ticket is not merged into another one, so there is nothing to undo.",
    meaning="The ticket or customer was never merged, or the merge was undone.",
    remedy="Nothing is to be done.",
)
MERGE_FINAL = ProblemType(
    code="merge_final",
    status=409,
    title="The merge can no longer be undone",
    message=(
        "A merge can be undone for %(hours)s hours, and before its result, %(merged_into_id)s, is"
        " merged again or erased."
    ),
    meaning="The merge is too old, or the other one has been merged or erased since.",
    remedy=(
        "If the one that `merged_into_id` names was merged since, undo that merge first; if it was"
        " erased, nothing is left to undo. Otherwise split the replies off the ticket; of a"
        " customer, take the address out of `other_emails` and create a customer with it."
    ),
    example={"hours": 24, "merged_into_id": "0199c0de-0b1c-7d2e-9f30-415263748596"},
    members=("merged_into_id",),
)
