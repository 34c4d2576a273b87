"""The API of blocked senders, for administrators."""

from sealdesk.mail.blocks import actions, errors, labels, store
from sealdesk.mail.blocks.errors import TOO_MANY_BLOCKS
from sealdesk.mail.blocks.types import MailBlockResponse, NewMailBlock
from sealdesk.web import body, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pages.site import Room
from sealdesk.web.pagination import PAGING, list_all
from sealdesk.web.request import Request, Response

ROOM = Room("mail.blocks", errors, labels)

_TAG = "Mailboxes"
BLOCK = MailBlockResponse("@spam.test", "Ada Lovelace", "2026-03-01T08:30:00.000000Z")


@operation("List blocked senders", tag=_TAG, gives=BLOCK, is_list=True, params=PAGING)
async def list_blocks(request: Request) -> Response:
    """By pattern, domains first."""
    return await list_all(
        request, store.list_blocks, actions.to_response, lambda block: [block.pattern]
    )


@operation(
    "Block a sender",
    tag=_TAG,
    takes=NewMailBlock,
    gives=BLOCK,
    status=201,
    fails=(TOO_MANY_BLOCKS,),
    example={"pattern": "@spam.test"},
)
async def add_block(request: Request) -> Response:
    """Messages of this address, or of this domain without its subdomains, make no tickets and no
    replies. They are stored for 30 days. A sender who is blocked already stays so."""
    new = body.read(request, NewMailBlock)

    block = await request.act(actions.add_block, new, now_us=request.now_us)
    return envelope.one(actions.to_response(block), 201)


@operation("Unblock a sender", tag=_TAG, status=204)
async def remove_block(request: Request, pattern: str) -> Response:
    """The pattern in the path is percent-encoded: `%40spam.test`."""
    pattern = query.read_segment(pattern)

    await request.act(actions.remove_block, pattern, now_us=request.now_us)
    return envelope.nothing()
