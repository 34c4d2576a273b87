"""What clients ask for in a run, and whether the answers are about the data that was built."""

from random import Random
from typing import Any

import msgspec

from bench.data import Data
from bench.load import Expected, WrongAnswer, drive
from bench.plan import Plan
from bench.sample import Sample
from bench.servers import Server
from bench.signed import TICKETS, Make, NewTickets, Signer

PAGE = Expected(200, b'"reply_count":', 25)
ONE = Expected(200, b'"reply_count":', 1)
CREATED = Expected(201)
_WALKED_PAGES = 4


class Work:
    """Makes the requests of one run against one set of data."""

    def __init__(self, plan: Plan, data: Data) -> None:
        self.plan = plan
        self.sample = Sample(plan, data, Random(1))
        self.big = Signer(data.keys_of(data.big))
        self.small = Signer(data.keys_of(data.small))
        by_tenant = [data.keys_of(tenant)[: plan.keys_each] for tenant in data.stamp.tenant_ids]
        self._everywhere = [key for turn in zip(*by_tenant, strict=True) for key in turn]

    @property
    def first_page(self) -> Make:
        """The newest 25 tickets of the big tenant."""
        return self.big.gets(TICKETS)

    @property
    def deep_page(self) -> Make:
        return self.big.gets(f"{TICKETS}?cursor={self.sample.cursor_after(self.plan.depth)}")

    def new_tickets(self) -> NewTickets:
        """For one server: it remembers which customers that server has been told of."""
        return NewTickets(Random(2), self.sample.addresses())

    def in_all_tenants(self, new: NewTickets) -> Make:
        """New tickets in all tenants alike."""
        return Signer(self._everywhere).posts(new)

    def in_one_tenant(self, new: NewTickets) -> Make:
        return self.big.posts(new)

    def check_cursors(self, server: Server) -> None:
        """The cursors made here must be the server's: walk a little, then look at the deep page.

        Raises WrongAnswer.
        """
        target = TICKETS
        for page in range(1, _WALKED_PAGES + 1):
            walked = self.read(server, target)["meta"]["next_cursor"]
            if walked != self.sample.cursor_after(25 * page):
                raise WrongAnswer(f"the cursor after page {page} is not the one made here")
            target = f"{TICKETS}?cursor={walked}"
        deep = self.read(server, f"{TICKETS}?cursor={self.sample.cursor_after(self.plan.depth)}")
        if deep["data"][0]["number"] != self.plan.big_tickets - self.plan.depth:
            raise WrongAnswer("the deep page is not as deep as it should be")

    def read(self, server: Server, target: str) -> Any:
        """A page of the big tenant's, decoded. Raises WrongAnswer."""
        (request,) = self.big.gets(target)(1)
        return msgspec.json.decode(drive(server.port, [request], PAGE, 1).body)
