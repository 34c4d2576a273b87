"""What documentation says of each error code: how it looks, what it means, what to do."""

from sealdesk.web.problems.later import LATER
from sealdesk.web.problems.problem import Problem
from sealdesk.web.problems.refused import REFUSED
from sealdesk.web.problems.unproven import UNPROVEN
from sealdesk.web.problems.unreadable import UNREADABLE

__all__ = ["PROBLEMS", "Problem"]

# In the order of errors.CODES; a test holds the two to each other.
PROBLEMS: dict[str, Problem] = {**UNREADABLE, **UNPROVEN, **REFUSED, **LATER}
