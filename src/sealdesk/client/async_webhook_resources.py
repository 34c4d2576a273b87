"""The webhooks of `AsyncDesk`, which its API key manages."""

from typing import Unpack

from sealdesk.client import webhook_operations as operations
from sealdesk.client.async_resources import Runner
from sealdesk.client.paging import AsyncPages
from sealdesk.client.parameters import DeliveryFilters, NewWebhook, WebhookChange
from sealdesk.client.webhook_results import (
    Delivery,
    DeliveryWithAttempts,
    Replay,
    Restarted,
    Webhook,
    WebhookWithSecret,
)


class Webhooks:
    """The webhooks of a desk."""

    def __init__(self, desk: Runner) -> None:
        self._desk = desk

    def list(self) -> AsyncPages[Webhook]:
        """List the webhooks."""
        return self._desk.list(operations.list_webhooks())

    async def get(self, webhook_id: str) -> Webhook:
        """Get a webhook."""
        return await self._desk.run(operations.get_webhook(webhook_id))

    async def create(self, **fields: Unpack[NewWebhook]) -> WebhookWithSecret:
        """Create a webhook. Its secret is in the result, and never shown again."""
        return await self._desk.run(operations.create_webhook(fields))

    async def update(self, webhook_id: str, **fields: Unpack[WebhookChange]) -> Webhook:
        """Change fields of a webhook."""
        return await self._desk.run(operations.change_webhook(webhook_id, fields))

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        await self._desk.run(operations.delete_webhook(webhook_id))

    async def rotate_secret(self, webhook_id: str) -> WebhookWithSecret:
        """Give a webhook a new secret; the old one also signs for a while."""
        return await self._desk.run(operations.rotate_secret(webhook_id))

    async def test(self, webhook_id: str) -> DeliveryWithAttempts:
        """Send a test event, and return what the receiver responded."""
        return await self._desk.run(operations.test_webhook(webhook_id))

    def deliveries(
        self, webhook_id: str, **filters: Unpack[DeliveryFilters]
    ) -> AsyncPages[Delivery]:
        """List the deliveries of a webhook, newest first."""
        return self._desk.list(operations.list_deliveries(webhook_id, filters))

    async def delivery(self, webhook_id: str, delivery_id: str) -> DeliveryWithAttempts:
        """Get a delivery with its attempts."""
        return await self._desk.run(operations.get_delivery(webhook_id, delivery_id))

    async def redeliver(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Send the event of a delivery again."""
        return await self._desk.run(operations.redeliver(webhook_id, delivery_id))

    async def redeliver_failed(self, webhook_id: str, *, since: str) -> Restarted:
        """Send the events of deliveries again that have failed since then."""
        return await self._desk.run(operations.redeliver_failed(webhook_id, since))

    async def retry_now(self, webhook_id: str) -> Restarted:
        """Make the next attempts of all waiting deliveries now."""
        return await self._desk.run(operations.retry_now(webhook_id))

    async def replay(self, webhook_id: str, *, since: str, until: str) -> Replay:
        """Send all events of a time span again."""
        return await self._desk.run(operations.replay(webhook_id, since, until))

    def replays(self, webhook_id: str) -> AsyncPages[Replay]:
        """List the replays of a webhook."""
        return self._desk.list(operations.list_replays(webhook_id))
