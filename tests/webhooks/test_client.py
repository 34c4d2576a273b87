"""Webhooks through the Python client."""

from sealdesk.client import Desk
from tests.support.receiver import Receiver
from tests.support.service import Service


def test_webhooks_are_managed(shared_service: Service, receiver: Receiver) -> None:
    key = shared_service.tenant().key()
    desk = Desk(key.api_key, key.api_secret, key.service.url)
    made = desk.webhooks.create(url=receiver.url, events=["ticket.created"])
    assert made.secret.startswith("whsec_")
    assert made.secret not in repr(made)
    assert desk.webhooks.get(made.id).url == made.url
    assert [each.id for each in desk.webhooks.list()] == [made.id]
    rotated = desk.webhooks.rotate_secret(made.id)
    assert rotated.secret != made.secret
    since = made.created_at
    assert desk.webhooks.redeliver_failed(made.id, since=since).delivery_count == 0
    assert desk.webhooks.retry_now(made.id).delivery_count == 0
    until = desk.customers.create(email="a@example.test").created_at
    replay = desk.webhooks.replay(made.id, since=since, until=until)
    assert [each.id for each in desk.webhooks.replays(made.id)] == [replay.id]
    tested = desk.webhooks.test(made.id)
    assert tested.event_type == "webhook.test"
    assert len(tested.attempts) == 1
    listed = desk.webhooks.deliveries(made.id, event_type="webhook.test").first()
    assert listed is not None
    assert desk.webhooks.delivery(made.id, listed.id).event_id == tested.event_id
    assert desk.webhooks.redeliver(made.id, listed.id).event_id == tested.event_id
    assert not desk.webhooks.update(made.id, is_active=False).is_active
    desk.webhooks.delete(made.id)
    assert list(desk.webhooks.list()) == []
    desk.close()
