"""Text of `format=flowed`, with its paragraphs joined (RFC 3676)."""

_SIGNATURE = "-- "
_MAX_DEPTH = 20


def join_flowed(text: str, *, deletes_space: bool) -> str:
    """The text with each paragraph in one line; quotes keep their marks.

    deletes_space: the parameter DelSp, for languages that have no spaces between words.
    """
    joined: list[str] = []
    open_depth = -1  # of the quote that goes on in the next line
    pieces: list[str] = []
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        # A space keeps a line that begins with > from being a quote (RFC 3676, 4.4).
        is_stuffed = not depth and content.startswith(" >")
        content = content if is_stuffed else content.removeprefix(" ")
        is_open = content.endswith(" ") and content != _SIGNATURE
        if open_depth not in (depth, -1) or (content == _SIGNATURE and pieces):
            joined.append("".join(pieces).rstrip(" "))
            pieces = []
        if not pieces:
            pieces.append(_mark(depth))
        pieces.append(content[:-1] if is_open and deletes_space else content)
        open_depth = depth if is_open else -1
        if not is_open:
            joined.append("".join(pieces))
            pieces = []
    if pieces:
        joined.append("".join(pieces).rstrip(" "))
    return "\n".join(joined)


def _mark(depth: int) -> str:
    return ">" * min(depth, _MAX_DEPTH) + (" " if depth else "")
