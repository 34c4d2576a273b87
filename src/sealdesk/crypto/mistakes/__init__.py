"""The known mistakes in signed requests: what is wrong, and what to do instead.

From this table come the `detail` of refusals, the enum of `diagnosis` in OpenAPI, the texts of the
signature debugger, and the sections of `/docs/errors`.
"""

from sealdesk.crypto.mistakes.mistake import Mistake
from sealdesk.crypto.mistakes.of_message import OF_THE_BODY, OF_THE_PARTS, OF_THE_TARGET
from sealdesk.crypto.mistakes.of_secret import OF_THE_FORM, OF_THE_SECRET

__all__ = ["DIAGNOSES", "MISTAKES", "Mistake"]

MISTAKES: dict[str, Mistake] = {
    each.name: each
    for each in (*OF_THE_PARTS, *OF_THE_TARGET, *OF_THE_BODY, *OF_THE_SECRET, *OF_THE_FORM)
}
# The values of `diagnosis` in the API.
DIAGNOSES = tuple(name for name, mistake in MISTAKES.items() if mistake.code)
