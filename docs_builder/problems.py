"""The page of error codes as Markdown: each code, then each diagnosis of a signature."""

import json
from collections.abc import Sequence

from sealdesk.crypto.mistakes import MISTAKES, Mistake
from sealdesk.errors import ProblemType
from sealdesk.web.openapi.problems import example

_INTRODUCTION = """\
# Error codes

Every error is a problem document (RFC 9457) with the media type `application/problem+json`. Branch
on `code`, which never changes its meaning; show `detail` to people, whose wording may change; quote
`request_id` when you ask for help. [Errors](api/errors.md) says which requests to repeat.
"""
_DIAGNOSES = """\
## Diagnoses {#diagnoses}

`diagnosis` names a known mistake of a refused signature. [Sign a request](api/signing.md) says how
a signature is made, and the [vectors](api/vectors.md) check a program without a server.
"""
_DEBUGGER = "Only the signature debugger, under Settings → API keys, can see it."


def page(problem_types: Sequence[ProblemType]) -> str:
    """The Markdown of `/docs/errors`. The anchor of a section is its code."""
    by_status: dict[int, list[ProblemType]] = {}
    for each in problem_types:
        by_status.setdefault(each.status, []).append(each)
    parts = [_INTRODUCTION]
    for status, problems in sorted(by_status.items()):
        parts.append(f"## {status} {{#status-{status}}}\n")
        parts += [_section(each) for each in problems]
    # The section of such a code is also that of its diagnosis.
    codes = {each.code for each in problem_types}
    parts.append(_DIAGNOSES)
    parts += [_diagnosis(each) for each in MISTAKES.values() if each.name not in codes]
    return "\n".join(parts)


def _diagnosis(mistake: Mistake) -> str:
    with_code = f"Comes with [`{mistake.code}`](#{mistake.code})." if mistake.code else _DEBUGGER
    parts = (f"**What is wrong.** {mistake.fault}", f"**What to do.** {mistake.remedy}", with_code)
    return "\n\n".join((f"### `{mistake.name}` {{#{mistake.name}}}", *parts)) + "\n"


def _section(problem: ProblemType) -> str:
    text = json.dumps(
        example(problem, None, "/api/v1/external/tickets"), indent=2, ensure_ascii=False
    )
    headers = ", ".join(f"`{name}`" for name in problem.headers)
    parts = [
        f"### `{problem.code}` {{#{problem.code}}}\n\n{problem.title}.\n",
        f"**What it means.** {problem.meaning}\n",
        f"**What to do.** {problem.remedy}\n",
        f"Comes with {headers}.\n" if headers else "",
        f"```json Response {problem.status}\n{text}\n```\n",
    ]
    return "\n".join(filter(None, parts))
