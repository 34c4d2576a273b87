"""The webhooks of `AsyncDesk`."""

from typing import Unpack

from sealdesk.client import webhook_requests as requests
from sealdesk.client.aio.iterators import AsyncPages
from sealdesk.client.aio.resources import Resource
from sealdesk.client.operation import ListOperation, Operation, delete, patch
from sealdesk.client.parameters import DeliveryFilters, NewWebhook, WebhookChange, check_names
from sealdesk.client.results import Done
from sealdesk.client.webhook_results import (
    Delivery,
    DeliveryWithAttempts,
    Replay,
    Restarted,
    Webhook,
    WebhookWithSecret,
)

_TEST_S = 30.0  # the service waits for the response of the receiver


class Webhooks(Resource):
    """The webhooks of a desk."""

    def list(self) -> AsyncPages[Webhook]:
        """List the webhooks."""
        return self._desk.list(ListOperation(requests.PATH, {}, requests.read_webhooks))

    async def get(self, webhook_id: str) -> Webhook:
        """Get a webhook."""
        target = requests.path_of(webhook_id)
        operation = Operation("GET", target, b"", {}, requests.read_webhook)
        return await self._desk.run(operation._replace(resource_id=webhook_id))

    async def create(self, **fields: Unpack[NewWebhook]) -> WebhookWithSecret:
        """Create a webhook. Its secret is in the result, and never shown again."""
        check_names(fields, NewWebhook)
        return await self._desk.run(requests.post(requests.PATH, fields, requests.read_secret))

    async def update(self, webhook_id: str, **fields: Unpack[WebhookChange]) -> Webhook:
        """Change fields of a webhook."""
        check_names(fields, WebhookChange, shown=Webhook.__struct_fields__)
        operation = patch(requests.path_of(webhook_id), fields, None, requests.read_webhook)
        return await self._desk.run(operation._replace(resource_id=webhook_id))

    async def delete(self, webhook_id: str) -> Done:
        """Delete a webhook."""
        return await self._desk.run(delete(requests.path_of(webhook_id)))

    async def rotate_secret(self, webhook_id: str) -> WebhookWithSecret:
        """Give a webhook a new secret; the old one also signs for a while."""
        target = f"{requests.path_of(webhook_id)}/rotate-secret"
        operation = requests.post(target, None, requests.read_secret)
        return await self._desk.run(operation._replace(resource_id=webhook_id))

    async def test(self, webhook_id: str) -> DeliveryWithAttempts:
        """Send a test event, and return what the receiver responded."""
        operation = requests.post(
            f"{requests.path_of(webhook_id)}/test", None, requests.read_attempts
        )
        return await self._desk.run(operation._replace(extra_timeout_s=_TEST_S))

    def deliveries(
        self, webhook_id: str, **filters: Unpack[DeliveryFilters]
    ) -> AsyncPages[Delivery]:
        """List the deliveries of a webhook, newest first."""
        check_names(filters, DeliveryFilters)
        return self._desk.list(
            ListOperation(
                f"{requests.path_of(webhook_id)}/deliveries", filters, requests.read_deliveries
            )
        )

    async def delivery(self, webhook_id: str, delivery_id: str) -> DeliveryWithAttempts:
        """Get a delivery with its attempts."""
        target = requests.delivery_path(webhook_id, delivery_id)
        operation = Operation("GET", target, b"", {}, requests.read_attempts)
        return await self._desk.run(operation._replace(resource_id=delivery_id))

    async def redeliver(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Send the event of a delivery again."""
        return await self._desk.run(
            requests.post(
                f"{requests.delivery_path(webhook_id, delivery_id)}/redeliver",
                None,
                requests.read_delivery,
            )
        )

    async def redeliver_failed(self, webhook_id: str, *, since: str) -> Restarted:
        """Send the events of deliveries again that have failed since then."""
        return await self._desk.run(
            requests.post(
                f"{requests.path_of(webhook_id)}/redeliver-failed",
                {"since": since},
                requests.read_restarted,
            )
        )

    async def retry_now(self, webhook_id: str) -> Restarted:
        """Make the next attempts of all waiting deliveries now."""
        return await self._desk.run(
            requests.post(
                f"{requests.path_of(webhook_id)}/retry-now", None, requests.read_restarted
            )
        )

    async def replay(self, webhook_id: str, *, since: str, until: str) -> Replay:
        """Send all events of a time span again."""
        span = {"since": since, "until": until}
        return await self._desk.run(
            requests.post(f"{requests.path_of(webhook_id)}/replay", span, requests.read_replay)
        )

    def replays(self, webhook_id: str) -> AsyncPages[Replay]:
        """List the replays of a webhook."""
        return self._desk.list(
            ListOperation(f"{requests.path_of(webhook_id)}/replays", {}, requests.read_replays)
        )
