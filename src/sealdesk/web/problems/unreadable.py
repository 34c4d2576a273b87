"""What cannot be read."""

from sealdesk.web.problems.problem import Problem

UNREADABLE: dict[str, Problem] = {
    "malformed_request": Problem(
        "The bytes that arrived are not an HTTP/1.1 request; the connection is closed.",
        "Use an HTTP library, and look at what a proxy in between may have changed.",
        "The request is not HTTP/1.1 that can be read.",
    ),
    "malformed_json": Problem(
        "There is no body where one is needed, or it is not strict JSON: UTF-8, at most 32 levels"
        " deep, no name twice in one object, no NaN or Infinity, whole numbers within 64 bits, no"
        " U+0000 and no half of a surrogate pair.",
        "Let a JSON library write the body, and sign exactly the bytes that it wrote.",
        "The body cannot be read as JSON: Expecting ',' delimiter: line 1 column 12 (char 11).",
    ),
    "invalid_parameter": Problem(
        "A query parameter has a value that it cannot take, or was sent twice.",
        "See the parameter's rule in the reference. In times, write + as %2B.",
        "The parameter per_page must be a whole number from 1, in ASCII digits.",
        {"parameter": "per_page"},
    ),
    "unknown_parameter": Problem(
        "The query names a parameter that this list does not have. It is refused because a filter"
        " that is silently dropped would return too much.",
        "Check the spelling; `detail` names the nearest one that exists.",
        "There is no parameter 'per-page' here. Did you mean per_page?",
        {"parameter": "per-page"},
    ),
    "invalid_header": Problem(
        "A header that the operation heeds has a value that it cannot take, or was sent twice.",
        "`detail` names the header and what it may hold.",
        'if-match must be entity tags in double quotes, as in "3.1".',
    ),
    "invalid_cursor": Problem(
        "The cursor is not one that this list gave out (`reason: malformed`), or it was made by a"
        " query with other filters or another order (`reason: query_changed`, `parameters`).",
        "Send `meta.next_cursor` unchanged and with otherwise the same query; only `per_page` may"
        " differ. Leave `cursor` out to begin again.",
        "The cursor was made by a query with another status. Go on with the filters and order of"
        " the first page, or leave `cursor` out to begin again.",
        {"reason": "query_changed", "parameters": ["status"]},
    ),
}
